/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * A frame: the memory of one message, from writing it until the call that took it has returned, or
 * the room for one answer. {@link SharedBuffers#frame()} opens it, {@code try} closes it:
 *
 * <pre>{@code
 * try (BinaryBuffer frame = buffers.frame()) {
 *     frame.writer().value(users);
 *     frame.finish();
 *     store(self, frame.where(), frame.big());
 *     frame.delivered();
 * }
 * }</pre>
 *
 * <p>A frame that is never closed keeps its chunk from the pool. One thread at a time; it may be
 * held while a virtual thread is parked, and closed by another thread.
 */
public final class BinaryBuffer implements AutoCloseable {
    /** The smallest room for an answer. */
    private static final int ROOM_MIN = 64;

    private static final AtomicIntegerFieldUpdater<BinaryBuffer> CLOSED =
            AtomicIntegerFieldUpdater.newUpdater(BinaryBuffer.class, "closed");

    private final SharedBuffers buffers;
    /** The frame whose chunk this one shares; null for the first one of a chunk. */
    final BinaryBuffer below;
    private final SharedChunk chunk;
    private final int from;
    private TaggedWriter writer;
    private TaggedSpace space;
    private boolean isFinished;
    private int used;
    private long where;
    private ByteBuffer big;
    private SharedChunk roomChunk;
    private boolean hasRoom;
    private long room;
    private volatile int closed;

    /** The rest of a chunk from an offset on; with no chunk, memory of the heap. */
    BinaryBuffer(SharedBuffers buffers, SharedChunk chunk, BinaryBuffer below, int from) {
        this.buffers = buffers;
        this.chunk = chunk;
        this.below = below;
        this.from = from;
    }

    /** The writer of the message, always the same. */
    public TaggedWriter writer() {
        open();
        if (writer == null) {
            if (hasRoom) {
                throw misuse("the room of this frame was given away for an answer");
            }
            TaggedStack stack = chunk != null ? chunk.stack : new TaggedStack();
            space = chunk != null ? chunk.space : new TaggedSpace(stack);
            writer = new TaggedWriter(this, space, stack);
        }
        return writer;
    }

    void begin(TaggedSpace memory) {
        ByteBuffer leased = chunk != null ? buffers.bytes() : null;
        memory.begin(leased, from, chunk != null ? chunk.end : from);
    }

    /**
     * Finishes the message: it is contiguous, in the leased chunk or, where that was too small, in
     * a buffer of its own. EMISUSE if a container is open or nothing was written. A second time it
     * does nothing.
     */
    public void finish() {
        open();
        if (isFinished) {
            return;
        }
        int size = writer().seal();
        if (space.finishInChunk()) {
            used = size;
            where = (long) size << 32 | from;
        } else {
            big = space.gather();
            if (chunk != null) {
                buffers.oneOff();
            }
            where = (long) size << 32;
        }
        writer.detach();
        space = null;
        isFinished = true;
    }

    /** Where the finished message is, for the call: offset and size in one. */
    public long where() {
        finished();
        return where;
    }

    /** The buffer that the message is in, for the call; null: it is in the block. */
    public ByteBuffer big() {
        finished();
        return big;
    }

    /**
     * Room for an answer, for the call: offset and size of a part of the block. Before anything is
     * written, or after the message was finished. 0 if the pool is empty: the answer then comes in
     * a buffer of its own.
     */
    public long room() {
        open();
        if (writer != null && !isFinished) {
            throw misuse("the message of this frame is not finished");
        }
        if (!hasRoom) {
            hasRoom = true;
            room = chunk != null && chunk.end - from - used >= ROOM_MIN
                    ? room(from + used, chunk.end) : roomOfItsOwn();
        }
        return room;
    }

    private static long room(int at, int end) {
        return (long) (end - at) << 32 | at;
    }

    private long roomOfItsOwn() {
        roomChunk = buffers.lease();
        return roomChunk != null ? room(roomChunk.start, roomChunk.end) : 0;
    }

    /**
     * Says that the receiver has validated the message: the call that took it returned. Shapes that
     * were defined in it are not defined again. Without it nothing goes wrong, but every message
     * carries its keys.
     */
    public void delivered() {
        finished();
        if (writer != null) {
            writer.delivered();
        }
    }

    /**
     * Gives the memory back; what was in it is gone. A second time it does nothing. The chunk is
     * free when the frames that share it are closed, in any order.
     */
    @Override
    public void close() {
        if (!CLOSED.compareAndSet(this, 0, 1)) {
            return;
        }
        if (writer != null) {
            writer.detach();
        }
        if (roomChunk != null) {
            buffers.give(roomChunk);
        }
        big = null;
        buffers.closed(chunk);
    }

    SharedBuffers buffers() {
        return buffers;
    }

    boolean isClosed() {
        return closed != 0;
    }

    /** Where a frame inside of this one may begin: behind the message; -1 if it must not share. */
    int shareFrom() {
        return isFinished && !hasRoom && chunk != null && chunk.end - from - used >= ROOM_MIN
                ? from + used : -1;
    }

    SharedChunk chunk() {
        return chunk;
    }

    private void open() {
        if (closed != 0) {
            throw misuse("the frame is closed");
        }
    }

    private void finished() {
        open();
        if (!isFinished) {
            throw misuse("the message is not finished");
        }
    }

    static TaggedException misuse(String what) {
        return new TaggedException(TaggedException.EMISUSE, what);
    }
}
