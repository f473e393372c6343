/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * RESP2 replies as JavaScript values. An iterative reader, so that nesting
 * costs no stack.
 *
 *     +text  string        :n  number, or bigint beyond 2^53
 *     $bytes string        *n  array        $-1 and *-1  null
 *     -text  KevyReplyError (thrown by `call` when it is the whole reply)
 */
import { Bytes, failure, host } from './native';
import { bytesOf } from './frames';

/** An error reply. `code` is its first word, for example WRONGTYPE. */
export class KevyReplyError extends Error {
  readonly code: string;

  constructor(text: string) {
    super(text);
    this.code = text.split(' ', 1)[0] ?? 'ERR';
  }
}
Object.defineProperty(KevyReplyError.prototype, 'name', { value: 'KevyReplyError' });

export type Reply = string | number | bigint | null | KevyReplyError | Uint8Array | Reply[];

const text = new host.TextDecoder('utf-8', { ignoreBOM: true });

const integer = /^[+-]?\d+$/;
const length = /^(-1|\d+)$/;

class Reader {
  #at = 0;

  constructor(
    readonly bytes: Uint8Array,
    readonly isBinary: boolean,
  ) {}

  fail(): never {
    throw failure(RangeError, 'KEVY_ERANGE', `malformed reply at byte ${this.#at}`);
  }

  #line(): string {
    const end = this.bytes.indexOf(13, this.#at);
    if (end < 0 || this.bytes[end + 1] !== 10) this.fail();
    const line = text.decode(this.bytes.subarray(this.#at, end));
    this.#at = end + 2;
    return line;
  }

  #integer(digits: string): number | bigint {
    if (!integer.test(digits)) this.fail();
    const number = Number(digits);
    return Number.isSafeInteger(number) ? number : BigInt(digits);
  }

  #length(digits: string): number {
    if (!length.test(digits)) this.fail();
    return Number(digits);
  }

  #bulk(size: number): string | Uint8Array | null {
    if (size < 0) return null;
    const end = this.#at + size;
    if (this.bytes[end] !== 13 || this.bytes[end + 1] !== 10) this.fail();
    const part = this.bytes.subarray(this.#at, end);
    this.#at = end + 2;
    return this.isBinary ? part : text.decode(part);
  }

  /** The next value; for an array { size } of what follows. */
  next(): Exclude<Reply, Reply[]> | { size: number } {
    const line = this.#line();
    const rest = line.slice(1);
    switch (line[0]) {
      case '+':
        return rest;
      case '-':
        return new KevyReplyError(rest);
      case ':':
        return this.#integer(rest);
      case '$':
        return this.#bulk(this.#length(rest));
      case '*':
        return rest === '-1' ? null : { size: this.#length(rest) };
      default:
        return this.fail();
    }
  }

  end(): void {
    if (this.#at !== this.bytes.length) this.fail();
  }
}

/**
 * Reads one whole reply. Bulk strings are decoded as UTF-8 (what is none
 * becomes U+FFFD), or with `isBinary` left as views of the reply.
 */
export function parseReply(reply: Bytes, isBinary = false): Reply {
  const reader = new Reader(bytesOf(reply), isBinary);
  const open: { items: Reply[]; left: number }[] = [];
  for (;;) {
    let value: Reply;
    const next = reader.next();
    if (next !== null && typeof next === 'object' && 'size' in next) {
      if (next.size > 0) {
        open.push({ items: [], left: next.size });
        continue;
      }
      value = [];
    } else {
      value = next;
    }
    for (let top = open.at(-1); ; top = open.at(-1)) {
      if (top === undefined) {
        reader.end();
        return value;
      }
      top.items.push(value);
      if (--top.left > 0) break;
      value = top.items;
      open.pop();
    }
  }
}
