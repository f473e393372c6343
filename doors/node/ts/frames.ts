/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Packed bytes, the form in which many messages or arguments cross in one
 * buffer: for each its length (u32, little-endian), then its bytes.
 */
import { Bytes, checkUsable, failure, isBuffer, listOf, native } from './native';

/** The bytes of a buffer or view, not copied. */
export function bytesOf(value: Bytes): Uint8Array {
  if (!ArrayBuffer.isView(value) && !isBuffer(value)) {
    throw failure(TypeError, 'KEVY_EMISUSE', 'expected an ArrayBuffer or a view of one');
  }
  checkUsable(value);
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value);
}

/**
 * Splits a packed buffer into `count` views of it: nothing is copied, the
 * views show what the buffer shows. Throws a RangeError when the buffer does
 * not hold exactly `count` frames.
 */
export function unpackFrames(packed: Bytes, count: number): Uint8Array[] {
  if (typeof count !== 'number') {
    throw failure(TypeError, 'KEVY_EMISUSE', 'the count is not a number');
  }
  const bytes = bytesOf(packed);
  const { buffer, byteOffset, length } = bytes;
  const lengths = new DataView(buffer, byteOffset, length);
  const frames: Uint8Array[] = [];
  let at = 0;
  while (at < length && frames.length < count) {
    const start = at + 4;
    const end = start > length ? Infinity : start + lengths.getUint32(at, true);
    if (end > length) break;
    frames.push(new Uint8Array(buffer, byteOffset + start, end - start));
    at = end;
  }
  if (at !== length || frames.length !== count) {
    throw failure(
      RangeError,
      'KEVY_ERANGE',
      `malformed frames: ${frames.length} of ${count} end at byte ${at} of ${length}`,
    );
  }
  return frames;
}

/**
 * Packs a command and its arguments for KevyNitro.cmd. Strings become WTF-8,
 * as keys do.
 */
export function packArgv(args: Iterable<string | Bytes>): ArrayBuffer {
  return native.packArgv(listOf(args, 'arguments'));
}
