/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Change listeners of one store: a lane that begins with the first of them and
 * ends with the last. Its records are written by src/node_change.c, which has
 * their format; they are delivered in slices, as messages are.
 */
import { native } from './native';
import { Slices, Taker, sliced } from './push';

/** What happened; `lost`: so many changes are missing here, read anew what matters. */
export type ChangeCause = 'set' | 'del' | 'expire' | 'clear' | 'evict' | 'lost';

/* In the order of KEVY_CHANGE_…, from 1. */
const causes: readonly ChangeCause[] = ['set', 'del', 'expire', 'clear', 'evict', 'lost'];

/** A change of a key, or of everything (`clear`, `lost`: no key). */
export interface Change {
  readonly cause: ChangeCause;
  /** The key as text, exact where it was text; undefined where there is no key. */
  readonly key: string | undefined;
  /** The key as bytes of your own. */
  readonly keyBytes: Uint8Array | undefined;
  /** Made through another object, worker, door, or by none (expired, evicted). */
  readonly isOther: boolean;
  /** The database, 0 unless a command named another. */
  readonly database: number;
  /** Of `lost`: how many changes. Otherwise 0. */
  readonly lost: number;
}

export type ChangeListener = (change: Change) => void;

const isLittle = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

class Record implements Change {
  readonly cause: ChangeCause;
  readonly keyBytes: Uint8Array | undefined;
  readonly isOther: boolean;
  readonly database: number;
  readonly lost: number;
  #text: string | undefined;

  constructor(packed: ArrayBuffer, view: DataView, start: number, end: number) {
    this.database = view.getUint32(start + 4, isLittle);
    this.cause = causes[view.getUint32(start + 8, isLittle) - 1] ?? 'lost';
    this.isOther = view.getUint32(start + 12, isLittle) !== 0;
    this.lost = view.getFloat64(start + 16, isLittle);
    const hasKey = this.cause !== 'clear' && this.cause !== 'lost';
    this.keyBytes = hasKey ? new Uint8Array(packed.slice(start + 24, end)) : undefined;
  }

  get key(): string | undefined {
    if (this.keyBytes !== undefined) this.#text ??= native.textOf(this.keyBytes);
    return this.#text;
  }
}

export class ChangeLane {
  readonly #id: number;
  readonly #listeners = new Map<number, ChangeListener>();
  readonly #deliver: (packed: ArrayBuffer) => boolean;
  #isEnded = false;

  constructor(id: number, isRef: () => boolean) {
    this.#id = id;
    const slices: Slices = {
      isLive: () => !this.#isEnded,
      isRef,
      done: () => {
        if (!this.#isEnded) native.changesDone(id);
      },
    };
    const take: Taker = (packed, view, at, end) => this.#one(packed, view, at + 4, end);
    const deliver = sliced(1, take, slices);
    this.#deliver = (packed) => deliver(packed, 0, 0);
  }

  #one(packed: ArrayBuffer, view: DataView, start: number, end: number): void {
    const listener = this.#listeners.get(view.getUint32(start, isLittle));
    listener?.(new Record(packed, view, start, end));
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Returns what removes the listener; the lane ends with the last one. */
  add(listener: ChangeListener): () => void {
    const ear = native.listen(this.#id, this.#deliver);
    this.#listeners.set(ear, listener);
    return () => {
      if (this.#isEnded || !this.#listeners.delete(ear)) return;
      if (this.#listeners.size === 0) this.#isEnded = true;
      native.unlisten(this.#id, ear);
    };
  }

  /** The store was closed, and its ears with it. */
  end(): void {
    this.#isEnded = true;
    this.#listeners.clear();
  }
}
