/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Views over a rotating slab: an ArrayBuffer costs half a microsecond to make,
 * a view of one that is there a tenth. A slab is filled from the front, then
 * left to its views. Values over a quarter of it get a buffer of their own, so
 * that one small value kept for long keeps at most 64 KiB.
 */
import { Key, host, native } from './native';

const SLAB_SIZE = 65536;
const SHARE_MAX = SLAB_SIZE / 4;

let slab = new ArrayBuffer(0);
let used = 0;

function slabNew(): void {
  slab = new ArrayBuffer(SLAB_SIZE);
  used = 0;
  /* A transfer would take the memory from under other people's views. */
  host.markAsUntransferable(slab);
}

function ownView(id: number, key: Key, size: number): Uint8Array | undefined {
  for (;;) {
    const buffer = new ArrayBuffer(size);
    const got = native.getInto(id, key, buffer);
    if (got >= 0) return new Uint8Array(buffer, 0, got);
    if (got === -1) return undefined;
    size = -2 - got; /* it grew meanwhile */
  }
}

export function takeView(id: number, key: Key): Uint8Array | undefined {
  if (slab.byteLength === 0) slabNew();
  let got = native.getInto(id, key, slab, used);
  if (got < -1) {
    if (-2 - got > SHARE_MAX) return ownView(id, key, -2 - got);
    slabNew();
    got = native.getInto(id, key, slab, used);
    if (got < -1) return ownView(id, key, -2 - got);
  }
  if (got === -1) return undefined;
  const view = new Uint8Array(slab, used, got);
  used += (got + 7) & ~7;
  if (used > SLAB_SIZE) used = SLAB_SIZE;
  return view;
}
