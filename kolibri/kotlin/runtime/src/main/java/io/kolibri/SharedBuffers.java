/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A connection over which whole values cross between Java and C: one block of memory that both
 * see, and the shapes that each has sent. Your native opens the C side of it with kol_buffers_open,
 * which takes {@link #block}, {@link #chunkSize} and {@link #nativeCount}; docs/tagged-format.md
 * has the protocol of the calls.
 *
 * <p>Java leases its chunks of the block by {@link #frame}. An empty pool blocks nobody: the frame
 * has memory of its own then, and is counted in {@link #oneOffs}. Any thread; nothing hangs on one.
 */
public final class SharedBuffers implements AutoCloseable {
    private static final int CHUNK_SIZE = 64 * 1024;
    private static final int CHUNK_SIZE_MIN = 256;
    private static final int CHUNK_SIZE_MAX = 16 * 1024 * 1024;
    private static final int CHUNKS = 8;
    private static final int CHUNKS_MAX = 64;

    private final int chunkSize;
    private final int nativeCount;
    private final ByteBuffer block;
    private final ByteBuffer bytes;
    private final SharedChunk[] chunks;
    /** A bit for each free chunk of Java's. */
    private final AtomicLong free;

    private final AtomicInteger leases = new AtomicInteger();
    private final AtomicLong oneOffs = new AtomicLong();
    private final TaggedShapes sent = new TaggedShapes();
    private final TaggedShapes received = new TaggedShapes();
    private volatile TaggedCodecs codecs = TaggedCodecs.NONE;
    private volatile boolean isClosed;

    /** A connection with 8 chunks of 64 KiB a side. */
    public SharedBuffers() {
        this(CHUNK_SIZE, CHUNKS, CHUNKS);
    }

    /**
     * A connection with chunks of so many bytes, a power of two from 256 to 16 MiB, and so many of
     * them for each side, 1 to 64. The block takes at most 1 GiB.
     */
    public SharedBuffers(int chunkSize, int javaCount, int nativeCount) {
        if (chunkSize < CHUNK_SIZE_MIN || chunkSize > CHUNK_SIZE_MAX
                || Integer.bitCount(chunkSize) != 1) {
            throw new IllegalArgumentException("chunks of " + chunkSize + " bytes");
        }
        long size = (long) chunkSize * ((long) javaCount + nativeCount);
        if (javaCount < 1 || javaCount > CHUNKS_MAX || nativeCount < 1
                || nativeCount > CHUNKS_MAX || size > 1 << 30) {
            throw new IllegalArgumentException(javaCount + " and " + nativeCount + " chunks");
        }
        this.chunkSize = chunkSize;
        this.nativeCount = nativeCount;
        block = ByteBuffer.allocateDirect((int) size).order(ByteOrder.LITTLE_ENDIAN);
        bytes = block.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        chunks = new SharedChunk[javaCount];
        for (int i = 0; i < javaCount; i++) {
            int start = (nativeCount + i) * chunkSize;
            chunks[i] = new SharedChunk(i, start, start + chunkSize);
        }
        free = new AtomicLong(-1L >>> 64 - javaCount);
    }

    /** The memory, for the native that opens C's side. Nobody else writes into it. */
    public ByteBuffer block() {
        return block;
    }

    /** The size of a chunk in bytes. */
    public int chunkSize() {
        return chunkSize;
    }

    /** How many of the chunks are C's: the first ones. */
    public int nativeCount() {
        return nativeCount;
    }

    /** Opens a frame for one message or one answer; EENDED after {@link #close}. Yours to close. */
    public BinaryBuffer frame() {
        checkOpen();
        SharedChunk chunk = lease();
        BinaryBuffer frame = new BinaryBuffer(this, chunk, null, chunk != null ? chunk.start : 0);
        if (chunk != null) {
            chunk.top.lazySet(frame);
        }
        leases.incrementAndGet();
        return frame;
    }

    /**
     * Opens a frame inside of a finished one, whose message is being read: it takes the rest of
     * that one's chunk, if there is one to take, and a chunk of its own otherwise.
     */
    public BinaryBuffer frame(BinaryBuffer outer) {
        checkOpen();
        SharedChunk chunk = outer.buffers() == this ? outer.chunk() : null;
        int from = chunk != null && !outer.isClosed() ? outer.shareFrom() : -1;
        if (from >= 0) {
            BinaryBuffer frame = new BinaryBuffer(this, chunk, outer, from);
            if (chunk.top.compareAndSet(outer, frame)) {
                leases.incrementAndGet();
                return frame;
            }
        }
        return frame();
    }

    /** Validates a message that a call brought. EFORMAT, EDEPTH or ERANGE if it is not right. */
    public TaggedReader reader(long where, ByteBuffer big) {
        ByteBuffer memory = big == null ? bytes : TaggedFormat.at(big, 0);
        int offset = (int) where;
        int size = (int) (where >>> 32);
        if (offset < 0 || size < 0 || (offset & 7) != 0 || offset > memory.limit() - size) {
            throw new TaggedException(TaggedException.ERANGE, "a message outside of the memory");
        }
        return new TaggedReader(memory, offset, size, received, codecs);
    }

    /** The value of a message that a call brought, as copies of Java's. */
    public Object read(long where, ByteBuffer big) {
        return reader(where, big).value();
    }

    /**
     * The value of an answer: `room` was passed to the call as {@link BinaryBuffer#room}, and
     * `result` is what it returned.
     */
    public Object answer(BinaryBuffer room, long result) {
        long place = room.room();
        if (result == 0 || result > place >>> 32) {
            throw BinaryBuffer.misuse("no answer of " + result + " bytes fits into the room");
        }
        if (result > 0) {
            return read(result << 32 | place & 0xffffffffL, null);
        }
        int handle = (int) ~result;
        Object big = Handles.get(handle);
        if (!(big instanceof ByteBuffer)) {
            throw BinaryBuffer.misuse("no buffer has the handle " + handle);
        }
        Handles.remove(handle);
        return read((long) ((ByteBuffer) big).capacity() << 32, (ByteBuffer) big);
    }

    /**
     * Makes a class known: its values cross as custom values of a schema id, and custom values of
     * that id are read as its values. So are its subclasses', unless they are registered too.
     * Before the class is needed; ids and classes that are taken are an IllegalArgumentException.
     */
    public <T> void register(int id, Class<T> cls, TaggedCustom.Codec<T> codec) {
        synchronized (free) {
            codecs = codecs.with(id, cls, codec);
        }
    }

    /** The shapes that Java has sent. */
    public TaggedShapes sent() {
        return sent;
    }

    /** The shapes that C has sent. */
    public TaggedShapes received() {
        return received;
    }

    /** How many frames are open now. */
    public int leases() {
        return leases.get();
    }

    /** How many frames had no chunk so far, and messages that outgrew theirs. */
    public long oneOffs() {
        return oneOffs.get();
    }

    /**
     * Ends the connection on Java's side, after your native has ended C's: no frame can be opened
     * any more, frames that are open work until they are closed. With the system property
     * kolibri.check at 2 or more they are reported on standard error.
     */
    @Override
    public void close() {
        boolean wasClosed = isClosed;
        isClosed = true;
        int open = leases.get();
        if (!wasClosed && open > 0 && Integer.getInteger("kolibri.check", 0) >= 2) {
            System.err.println("kolibri: SharedBuffers.close: " + open + " frames are still open");
        }
    }

    ByteBuffer bytes() {
        return bytes;
    }

    TaggedCodecs codecs() {
        return codecs;
    }

    /** A chunk of the pool, or null; then it is counted. */
    SharedChunk lease() {
        long mask = free.get();
        while (mask != 0) {
            if (free.compareAndSet(mask, mask & mask - 1)) {
                return chunks[Long.numberOfTrailingZeros(mask)];
            }
            mask = free.get();
        }
        oneOff();
        return null;
    }

    void oneOff() {
        oneOffs.incrementAndGet();
    }

    void give(SharedChunk chunk) {
        long mask = free.get();
        while (!free.compareAndSet(mask, mask | 1L << chunk.index)) {
            mask = free.get();
        }
    }

    /** A frame was closed. */
    void closed(SharedChunk chunk) {
        if (chunk != null && chunk.pop()) {
            give(chunk);
        }
        leases.decrementAndGet();
    }

    private void checkOpen() {
        if (isClosed) {
            throw new TaggedException(TaggedException.EENDED, "the connection was closed");
        }
    }
}
