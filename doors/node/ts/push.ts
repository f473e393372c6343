/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Per-message delivery on top of batches, in slices: after a few milliseconds
 * the event loop gets its turn, then delivery goes on. Until the batch is
 * done, the poller brings no other; the rest waits in the engine's queue.
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
    public dropped: number,
    readonly onMessage: (payload: ArrayBuffer, dropped: number) => void,
  ) {
    this.#view = new DataView(packed);
  }

  #one(): void {
    const start = this.#at + 4;
    this.#at = start + this.#view.getUint32(this.#at, true);
    const dropped = this.dropped;
    this.dropped = 0;
    try {
      this.onMessage(this.packed.slice(start, this.#at), dropped);
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

/** Makes of a per-message callback one for batches. */
export function sliced(
  onMessage: (payload: ArrayBuffer, dropped: number) => void,
  slices: Slices,
): (packed: ArrayBuffer, count: number, dropped: number) => boolean {
  return (packed, _count, dropped) => {
    const delivery = new Delivery(packed, dropped, onMessage);
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
