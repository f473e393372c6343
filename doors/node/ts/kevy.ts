/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * KevyNitro, the store as an object. The class is thin on purpose: a method
 * checks what only JavaScript can check and makes one call into the addon.
 *
 * - Synchronous: every call has happened when it returns. A write has left the
 *   process by then; a SIGKILL loses nothing.
 * - Keys, channels and text are exact: a string is stored as WTF-8, so NUL is
 *   a character and lone surrogates stay apart. ArrayBuffers that come out are
 *   copies of the caller's own; those that go in are copied before the call
 *   returns.
 * - Wherever bytes go in: ArrayBuffer, typed array, DataView, Buffer. A view
 *   of shared memory is copied as of the call; a detached buffer, null or
 *   undefined is a TypeError.
 * - Failures throw; `code` says what, for example KEVY_ECLOSED after dispose,
 *   KEVY_ETYPE when the key holds another type, KEVY_EINUSE when another
 *   process has the directory.
 * - A live push or change listener keeps its store from being collected;
 *   otherwise a store that nobody holds any more is closed by the collector.
 *   Worker threads each open for themselves: opens of one directory in one
 *   process share the store.
 */
import { ChangeLane, ChangeListener } from './changes';
import { Bytes, Key, failure, functionCheck, listOf, native, objectCheck } from './native';
import { packArgv } from './frames';
import { OpenOptions, OpenReport, Path, optionNumbers, pathOf, reportOf } from './options';
import { Taker, sliced } from './push';
import { KevyReplyError, Reply, parseReply } from './reply';
import { takeView } from './slab';
import { booleanOf, jsonOf, numberOf, textOfJSON, textOfNumber } from './typed';

/** Bounds of the queues in which messages wait; what is left out stays. */
export interface QueueLimits {
  /** Messages; at the start 65,536. */
  count?: number;
  /** Bytes of channels and payloads; at the start 64 MiB. */
  bytes?: number;
  /**
   * What gives way when the queue is full: the oldest message (default) or the
   * new one. Either is counted. (The engine's third policy, to make the
   * publisher wait, would wait for ever where it is the same thread.)
   */
  policy?: 'drop-oldest' | 'drop-newest';
}

/* Stores with a live push or change listener: the roots that keep them. */
const kept = new Set<KevyNitro>();

type BatchListener = (packed: ArrayBuffer, count: number, dropped: number) => boolean;

export class KevyNitro {
  readonly #id: number;
  #listeners = 0;
  #lane = 0; /* raised when the push lane stops, so that what it left knows */
  #isRef = false;
  #changes: ChangeLane | undefined;

  /** Opens in memory, or in `dir`. createKevyNitro and createKevyNitroAt do the same. */
  constructor(dir?: Path, options?: OpenOptions) {
    const path = dir === undefined ? undefined : pathOf(dir);
    this.#id = native.open(this, path, optionNumbers(options));
  }

  /** The engine's ABI, 1. */
  abi(): number {
    return native.abi;
  }

  /** The engine's version. */
  version(): string {
    return native.version;
  }

  // ---- open and close ----

  /**
   * Goes over to the store in `dir`: opens it, then closes what this object
   * had open, subscriptions, pushes and change listeners included. Also revives
   * a disposed object.
   * Returns true; throws the reason and changes nothing when it cannot.
   */
  openAt(dir: Path, options?: OpenOptions): boolean {
    native.openAt(this.#id, pathOf(dir), optionNumbers(options));
    this.#lanesEnded();
    return true;
  }

  /** What the open found: how much was replayed, and what was lost. */
  openReport(): OpenReport {
    return reportOf(native.openReport(this.#id));
  }

  /** Returns when everything written before is on the disk. */
  sync(): void {
    native.sync(this.#id);
  }

  /** Flushes to the disk; from then on writes throw and reads go on. */
  shutdown(): void {
    native.shutdown(this.#id);
  }

  /** Closes everything at once; later calls throw KEVY_ECLOSED. Idempotent. */
  dispose(): void {
    native.dispose(this.#id);
    this.#lanesEnded();
  }

  #lanesEnded(): void {
    this.#changes?.end();
    this.#pushStopped();
  }

  // ---- values ----

  /** The value as an ArrayBuffer of your own, or undefined. */
  getData(key: Key): ArrayBuffer | undefined {
    return native.getData(this.#id, key);
  }

  /**
   * Copies the value into `buffer` from `offset` on; the fastest way to read.
   * Returns its size, or undefined when there is none. A value that does not
   * fit throws a RangeError KEVY_ETOOSMALL with the property `size`, and the
   * buffer is as it was.
   */
  getInto(key: Key, buffer: Bytes, offset?: number): number | undefined {
    const size =
      offset === undefined
        ? native.getInto(this.#id, key, buffer)
        : native.getInto(this.#id, key, buffer, offset);
    if (size >= 0) return size;
    if (size === -1) return undefined;
    const text = `the value has ${-2 - size} bytes and does not fit`;
    throw Object.assign(failure(RangeError, 'KEVY_ETOOSMALL', text), { size: -2 - size });
  }

  /**
   * The value as a view of memory that many views share; cheaper than getData
   * for small values. It is yours and stays as it is, but keeps its 64 KiB
   * alive: copy what you keep for long, and do not transfer its buffer.
   */
  getView(key: Key): Uint8Array | undefined {
    return takeView(this.#id, key);
  }

  /**
   * Sets the value, whatever the key held, and its time to live: ttlMs
   * milliseconds from now, 0 or left out none. ttlMs that is no finite number
   * from 0 up is an error.
   */
  setData(key: Key, value: Bytes, ttlMs?: number): void {
    if (ttlMs === undefined) native.setData(this.#id, key, value);
    else native.setData(this.#id, key, value, ttlMs);
  }

  /**
   * The value as text, or undefined. What setString stored comes back exactly;
   * in other values, bytes that are not UTF-8 become U+FFFD. Text longer than
   * V8's longest string (536,870,888 units) is a RangeError KEVY_ELIMIT.
   */
  getString(key: Key): string | undefined {
    return native.getString(this.#id, key);
  }

  /** As setData, with text. */
  setString(key: Key, value: string, ttlMs?: number): void {
    if (ttlMs === undefined) native.setString(this.#id, key, value);
    else native.setString(this.#id, key, value, ttlMs);
  }

  /** Sets all or none, in one crossing and one append to the log; no TTL. */
  setMany(entries: Iterable<readonly [Key, string | Bytes]>): void {
    const keys: Key[] = [];
    const values: (string | Bytes)[] = [];
    for (const entry of listOf(entries, 'pairs')) {
      const [key, value] = Array.isArray(entry) ? entry : listOf(entry, 'a key and a value');
      keys.push(key as Key);
      values.push(value as string | Bytes);
    }
    native.setMany(this.#id, keys, values);
  }

  /**
   * The values in the order of the keys, in one crossing; as with MGET,
   * undefined where there is none or the key holds another type. Each key is
   * read by itself: what another thread writes meanwhile may be seen for one
   * and not for another.
   */
  getMany(keys: Iterable<Key>): (ArrayBuffer | undefined)[] {
    return native.getMany(this.#id, listOf(keys, 'keys'));
  }

  // ---- typed values, stored as text that every door and command understands ----

  /** A number, undefined when absent; TypeError KEVY_ETYPE for other text. */
  getNumber(key: Key): number | undefined {
    return numberOf(native.getString(this.#id, key));
  }

  /** Stores shortest decimal text; also -0, inf, -inf and nan come back exactly. */
  setNumber(key: Key, value: number, ttlMs?: number): void {
    this.setString(key, textOfNumber(value), ttlMs);
  }

  /** A boolean, undefined when absent; TypeError KEVY_ETYPE for other text. */
  getBoolean(key: Key): boolean | undefined {
    return booleanOf(native.getString(this.#id, key));
  }

  /** Stores `true` or `false`; 1 and 0 are understood too. */
  setBoolean(key: Key, value: boolean, ttlMs?: number): void {
    if (typeof value !== 'boolean') {
      throw failure(TypeError, 'KEVY_EMISUSE', 'the value is not a boolean');
    }
    this.setString(key, String(value), ttlMs);
  }

  /** What JSON.parse makes of the text; TypeError KEVY_ETYPE when it is none. */
  getJSON<T = unknown>(key: Key): T | undefined {
    return jsonOf(native.getString(this.#id, key)) as T | undefined;
  }

  /** Stores JSON. A value that has none (undefined, a function) is a TypeError. */
  setJSON(key: Key, value: unknown, ttlMs?: number): void {
    this.setString(key, textOfJSON(value), ttlMs);
  }

  // ---- commands ----

  /**
   * Runs a packed command (packArgv) and returns its RESP2 reply, error
   * replies included. A malformed pack is a TypeError and runs nothing.
   */
  cmd(argv: Bytes): ArrayBuffer {
    return native.cmd(this.#id, argv);
  }

  /** Runs a command and returns its reply as a value; throws error replies. */
  call(...args: (string | number | bigint | Bytes)[]): Reply {
    const isNumber = (arg: unknown) => typeof arg === 'number' || typeof arg === 'bigint';
    const words = args.map((arg) => (isNumber(arg) ? String(arg) : arg) as string | Bytes);
    const reply = parseReply(native.cmd(this.#id, packArgv(words)));
    if (reply instanceof KevyReplyError) throw reply;
    return reply;
  }

  // ---- publish and subscribe ----

  /** Publishes; returns how many deliveries were made. */
  publish(channel: Key, payload: string | Bytes): number {
    return native.publish(this.#id, channel, payload);
  }

  /** Adds a channel to the frames that subNext takes. */
  subscribe(channel: Key): void {
    native.subscribe(this.#id, channel, false);
  }

  /** Adds a glob pattern to the frames that subNext takes. */
  psubscribe(pattern: Key): void {
    native.subscribe(this.#id, pattern, true);
  }

  unsubscribe(channel: Key): void {
    native.unsubscribe(this.#id, channel, false);
  }

  punsubscribe(pattern: Key): void {
    native.unsubscribe(this.#id, pattern, true);
  }

  /** Takes the next frame, a RESP array as a Redis server pushes it; or undefined. */
  subNext(): ArrayBuffer | undefined {
    return native.subNext(this.#id);
  }

  /** How many messages the queue behind subNext has dropped. */
  subDropped(): number {
    return native.subDropped(this.#id);
  }

  /** Bounds the queues behind subNext and behind the push lane. */
  setQueueLimits(limits: QueueLimits): void {
    objectCheck(limits, 'queue limits');
    const { count = 0, bytes = 0, policy = 'drop-oldest' } = limits;
    if (typeof count !== 'number' || typeof bytes !== 'number') {
      throw failure(TypeError, 'KEVY_EMISUSE', 'queue limits: count or bytes is not a number');
    }
    const code = policy === 'drop-oldest' ? 0 : policy === 'drop-newest' ? 2 : undefined;
    if (
      code === undefined ||
      !(Number.isInteger(count) && count >= 0 && count < 2 ** 32) ||
      !(Number.isInteger(bytes) && bytes >= 0 && bytes <= 2 ** 53)
    ) {
      throw failure(RangeError, 'KEVY_ERANGE', 'queue limits: count, bytes or policy out of range');
    }
    native.subLimit(this.#id, count, bytes, code);
  }

  /**
   * Calls back for each message of the channel that is published from now on,
   * with its payload and how many messages the queue dropped before it.
   * Delivery is sliced: other work gets its turn every few milliseconds.
   * Returns what removes the callback.
   */
  subscribePush(
    channel: Key,
    callback: (payload: ArrayBuffer, dropped: number) => void,
  ): () => void {
    functionCheck(callback);
    return this.#pushEach(channel, false, (packed, _view, at, end, dropped) =>
      callback(packed.slice(at + 4, end), dropped),
    );
  }

  /** As subscribePush, for all channels that match a glob pattern. */
  psubscribePush(
    pattern: Key,
    callback: (payload: ArrayBuffer, channel: string, dropped: number) => void,
  ): () => void {
    functionCheck(callback);
    return this.#pushEach(pattern, true, (packed, view, at, end, dropped) => {
      const size = view.getUint32(at, true);
      const channel = native.textOf(new Uint8Array(packed, at + 4, size));
      callback(packed.slice(at + 8 + size, end), channel, dropped);
    });
  }

  #pushEach(name: Key, isPattern: boolean, take: Taker): () => void {
    const lane = this.#lane;
    let isRemoved = false;
    const slices = {
      isLive: () => !isRemoved && lane === this.#lane,
      isRef: () => this.#isRef,
      done: () => {
        if (lane === this.#lane) native.pushDone(this.#id);
      },
    };
    const remove = this.#push(name, isPattern, sliced(isPattern ? 2 : 1, take, slices));
    return () => {
      isRemoved = true;
      remove();
    };
  }

  /**
   * Calls back with many messages at once: a packed buffer (unpackFrames), how
   * many it holds, and how many messages the queue dropped before them. All
   * pushes of an object share one thread and one hop; no callback comes after
   * stopPush returned. Returns what removes the callback.
   */
  subscribePushBatched(
    channel: Key,
    callback: (packed: ArrayBuffer, count: number, dropped: number) => void,
  ): () => void {
    return this.#pushBatches(channel, false, callback);
  }

  /**
   * As subscribePushBatched, for all channels that match a glob pattern. Each
   * message is two frames, its channel and its payload: unpack 2 * count.
   */
  psubscribePushBatched(
    pattern: Key,
    callback: (packed: ArrayBuffer, count: number, dropped: number) => void,
  ): () => void {
    return this.#pushBatches(pattern, true, callback);
  }

  #pushBatches(
    name: Key,
    isPattern: boolean,
    callback: (packed: ArrayBuffer, count: number, dropped: number) => void,
  ): () => void {
    functionCheck(callback);
    return this.#push(name, isPattern, (packed, count, dropped) => {
      callback(packed, count, dropped);
      return false;
    });
  }

  #push(name: Key, isPattern: boolean, listener: BatchListener): () => void {
    const id = native.pushStart(this.#id, name, isPattern, listener);
    const lane = this.#lane;
    let isRemoved = false;
    this.#listeners++;
    kept.add(this);
    return () => {
      if (isRemoved || lane !== this.#lane) return;
      isRemoved = true;
      native.pushRemove(this.#id, id);
      if (--this.#listeners === 0) this.#pushStopped();
    };
  }

  /** Ends all pushes of this object at once: no callback comes after it. */
  stopPush(): void {
    native.pushStop(this.#id);
    this.#pushStopped();
  }

  #pushStopped(): void {
    this.#lane++;
    this.#listeners = 0;
    this.#release();
  }

  #release(): void {
    if (this.#listeners === 0 && this.#changes?.isEnded !== false) kept.delete(this);
  }

  /**
   * Calls back for every change of the store that is made from now on, through
   * this object or any other: once for each key that changes, in their order,
   * soon after, from the event loop. What the listener then reads is the change
   * or something newer. Expiries are told at their time. A listener that does
   * not keep up misses changes beyond 16 MiB of them, and is told how many
   * (cause `lost`). Returns what removes it: it is not called after that.
   */
  onChange(listener: ChangeListener): () => void {
    functionCheck(listener);
    if (this.#changes?.isEnded !== false) {
      this.#changes = new ChangeLane(this.#id, () => this.#isRef);
    }
    const remove = this.#changes.add(listener);
    kept.add(this);
    return () => {
      remove();
      this.#release();
    };
  }

  /** A push or change listener of this object keeps the process alive (by default not). */
  ref(): this {
    native.hold(this.#id, true);
    this.#isRef = true;
    return this;
  }

  /** What ref did is undone. */
  unref(): this {
    native.hold(this.#id, false);
    this.#isRef = false;
    return this;
  }
}

/* `using` of newer runtimes; on older ones there is no such symbol. */
const { dispose } = Symbol as { dispose?: symbol };
if (dispose !== undefined) {
  Object.defineProperty(KevyNitro.prototype, dispose, {
    value: KevyNitro.prototype.dispose,
    configurable: true,
    writable: true,
  });
}

/** Opens a store in memory. */
export function createKevyNitro(options?: OpenOptions): KevyNitro {
  return new KevyNitro(undefined, options);
}

/**
 * Opens the store in a directory, given as a path or as a file:// URL; makes
 * the directory and replays its log. Throws the reason, with `code`, `errno`,
 * `path` and `offset`.
 */
export function createKevyNitroAt(dir: Path, options?: OpenOptions): KevyNitro {
  return new KevyNitro(pathOf(dir), options);
}
