/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One-by-one delivery on top of batches, in slices: after a few milliseconds
 * the event loop gets its turn, then delivery goes on. Until the batch is
 * done no other is brought; the rest waits in a bounded queue.
 */
import { host } from './native';

const SLICE_MS = 4;

export interface Slices {
  /** False once the listener was removed or the lane stopped. */
  isLive(): boolean;
  /** Whether unfinished delivery may keep the process alive. */
  isRef(): boolean;
  /** The batch is delivered or given up. */
  done(): void;
}

/**
 * Takes one item: the `parts` that begin at `at`, each behind its length, and
 * end at `end`; `dropped` items are missing before it.
 */
export type Taker = (
  packed: ArrayBuffer,
  view: DataView,
  at: number,
  end: number,
  dropped: number,
) => void;

/** An exception of a handler takes nothing from the next message. */
export function throwLater(error: unknown): void {
  host.queueMicrotask(() => {
    throw error;
  });
}

class Delivery {
  #at = 0;
  readonly #view: DataView;

  constructor(
    readonly packed: ArrayBuffer,
    readonly parts: number,
    public dropped: number,
    readonly take: Taker,
  ) {
    this.#view = new DataView(packed);
  }

  #one(): void {
    const at = this.#at;
    const dropped = this.dropped;
    for (let i = 0; i < this.parts; i++) {
      this.#at += 4 + this.#view.getUint32(this.#at, true);
    }
    this.dropped = 0;
    try {
      this.take(this.packed, this.#view, at, this.#at, dropped);
    } catch (error) {
      throwLater(error);
    }
  }

  /** Delivers for a slice of time. True when nothing is left to do. */
  run(slices: Slices): boolean {
    const end = host.now() + SLICE_MS;
    while (this.#at < this.packed.byteLength) {
      if (!slices.isLive()) return true;
      this.#one();
      if (host.now() >= end) break;
    }
    return this.#at === this.packed.byteLength;
  }
}

/** Makes of a taker of single items, each of so many parts, a callback for batches. */
export function sliced(
  parts: number,
  take: Taker,
  slices: Slices,
): (packed: ArrayBuffer, count: number, dropped: number) => boolean {
  return (packed, _count, dropped) => {
    const delivery = new Delivery(packed, parts, dropped, take);
    if (delivery.run(slices)) return false;
    const later = (): void => {
      if (delivery.run(slices)) slices.done();
      else again();
    };
    const again = (): void => {
      const immediate = host.setImmediate(later);
      if (!slices.isRef()) immediate.unref();
    };
    again();
    return true;
  };
}
