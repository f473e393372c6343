/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The addon as TypeScript sees it, and the few things of Node that the package
 * uses (declared here, so that it needs no type packages). Loading checks that
 * the addon, the engine and this code belong together.
 *
 * A store is named by a number; src/node_store.c says how. Everything throws
 * rather than answers badly; see src/node_fail.c for the codes.
 */

/** The bytes of an ArrayBuffer, or the range that a view of one shows. */
export type Bytes = ArrayBuffer | ArrayBufferView;

/** A key or channel: text (exact, see KevyNitro) or bytes. */
export type Key = string | Bytes;

type Listener = (packed: ArrayBuffer, count: number, dropped: number) => boolean;

interface Native {
  readonly interface: number;
  readonly abi: number;
  readonly abiBuilt: number;
  readonly version: string;
  setup(
    checkUsable: (value: unknown) => void,
    makeBuffer: (size: number) => ArrayBuffer,
    shared: unknown,
  ): void;
  open(object: object, dir: string | undefined, options: number[]): number;
  openAt(id: number, dir: string, options: number[]): void;
  dispose(id: number): void;
  shutdown(id: number): void;
  sync(id: number): void;
  openReport(id: number): number[];
  getData(id: number, key: Key): ArrayBuffer | undefined;
  getInto(id: number, key: Key, buffer: Bytes, offset?: number): number;
  getString(id: number, key: Key): string | undefined;
  setData(id: number, key: Key, value: Bytes, ttlMs?: number): void;
  setString(id: number, key: Key, value: string, ttlMs?: number): void;
  setMany(id: number, keys: Key[], values: (string | Bytes)[]): void;
  getMany(id: number, keys: Key[]): (ArrayBuffer | undefined)[];
  cmd(id: number, packed: Bytes): ArrayBuffer;
  packArgv(args: (string | Bytes)[]): ArrayBuffer;
  copyOf(value: string | Bytes): ArrayBuffer;
  textOf(value: Bytes): string;
  subscribe(id: number, name: Key, isPattern: boolean): void;
  unsubscribe(id: number, name: Key, isPattern: boolean): void;
  subNext(id: number): ArrayBuffer | undefined;
  subLimit(id: number, count: number, bytes: number, policy: number): void;
  subDropped(id: number): number;
  publish(id: number, channel: Key, payload: string | Bytes): number;
  pushStart(id: number, name: Key, isPattern: boolean, callback: Listener): number;
  pushRemove(id: number, listener: number): void;
  pushDone(id: number): void;
  pushStop(id: number): void;
  listen(id: number, callback: (packed: ArrayBuffer) => boolean): number;
  unlisten(id: number, ear: number): void;
  changesDone(id: number): void;
  hold(id: number, isRef: boolean): void;
}

interface Immediate {
  unref(): void;
}

declare function require(id: string): unknown;
declare function setImmediate(callback: () => void): Immediate;
declare function queueMicrotask(callback: () => void): void;
declare const performance: { now(): number };
declare const TextDecoder: new (
  encoding: string,
  options: { ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string };

const INTERFACE = 2;

export const host = {
  setImmediate,
  queueMicrotask,
  TextDecoder,
  now: (): number => performance.now(),
  fileURLToPath: (require('node:url') as { fileURLToPath(url: unknown): string }).fileURLToPath,
  markAsUntransferable: (
    require('node:worker_threads') as { markAsUntransferable(value: object): void }
  ).markAsUntransferable,
};

/** Makes an exception with a code. */
export function failure(
  Kind: new (text: string) => Error,
  code: string,
  text: string,
): Error & { code: string } {
  return Object.assign(new Kind(text), { code });
}

function load(): Native {
  let loaded: Native;
  try {
    loaded = require('../build/kevy_node.node') as Native;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw failure(
      Error,
      'KEVY_EVERSION',
      `kevy-node: the addon cannot be loaded; run "npm install" in the package's folder (${why})`,
    );
  }
  if (loaded.interface !== INTERFACE || loaded.abi !== loaded.abiBuilt) {
    throw failure(
      Error,
      'KEVY_EVERSION',
      `kevy-node: addon (interface ${loaded.interface}, wanted ${INTERFACE}) and libkevy ` +
        `(ABI ${loaded.abi}, wanted ${loaded.abiBuilt}) do not belong together; ` +
        'run "npm install" in the package\'s folder',
    );
  }
  return loaded;
}

/* Taken before any other code can change them: calls into the addon run them in
 * between reading one buffer and the next. */
const { apply, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const { isView } = ArrayBuffer;
const PlainBuffer = ArrayBuffer;
const PlainArray = Uint8Array;
const anyArray = getPrototypeOf(PlainArray.prototype) as { values: () => unknown };
const arrayValues = anyArray.values;
const arrayTag = getterOf(anyArray, Symbol.toStringTag);
const viewSize = getterOf(DataView.prototype, 'byteLength');

const bufferSize = getterOf(PlainBuffer.prototype, 'byteLength');

/** Whether it is an ArrayBuffer, of whichever realm, and not a shared one. */
export function isBuffer(value: unknown): value is ArrayBuffer {
  try {
    apply(bufferSize, value, []);
    return true;
  } catch {
    return false;
  }
}

function getterOf(owner: object, name: PropertyKey): () => unknown {
  return getOwnPropertyDescriptor(owner, name)?.get as () => unknown;
}

/* A buffer of length 0 is fine, a detached one is not, and only JavaScript can
 * tell them apart on every version of Node. Each of these throws a TypeError
 * for a detached buffer and for a view that its buffer has shrunk away from.
 * None looks at what the object itself can override: a getter or a trap of the
 * caller's could take the memory of a buffer that the addon has read before. */
export function checkUsable(value: unknown): void {
  try {
    if (!isView(value)) void new PlainArray(value as ArrayBuffer);
    else if (apply(arrayTag, value, []) === undefined) apply(viewSize, value, []);
    else apply(arrayValues, value, []);
  } catch {
    throw failure(TypeError, 'KEVY_EMISUSE', 'the buffer is detached');
  }
}

export const native: Native = load();
const shared = typeof SharedArrayBuffer === 'undefined' ? undefined : new SharedArrayBuffer(1);
native.setup(checkUsable, (size) => new PlainBuffer(size), shared);

/** The items of an iterable, neither text nor bytes, as an array of our own. */
export function listOf<T>(items: Iterable<T>, what: string): T[] {
  const isObject = typeof items === 'object' && items !== null && !isView(items);
  const isList = isObject && Symbol.iterator in items;
  if (!isList) throw failure(TypeError, 'KEVY_EMISUSE', `expected an iterable of ${what}`);
  return Array.from(items);
}

export function functionCheck(callback: unknown): void {
  if (typeof callback !== 'function') {
    throw failure(TypeError, 'KEVY_EMISUSE', 'the callback is not a function');
  }
}

export function objectCheck(value: unknown, what: string): void {
  if (typeof value !== 'object' || value === null) {
    throw failure(TypeError, 'KEVY_EMISUSE', `${what}: expected an object`);
  }
}
