/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Numbers, booleans and JSON as text: what INCR, other doors and people can
 * read. Text that is none of it is a TypeError KEVY_ETYPE, not a guess.
 */
import { failure } from './native';

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const special = new Map([
  ['inf', Infinity],
  ['+inf', Infinity],
  ['-inf', -Infinity],
  ['nan', NaN],
]);

function mismatch(wanted: string): never {
  throw failure(TypeError, 'KEVY_ETYPE', `the value is not ${wanted}`);
}

export function numberOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (decimal.test(text)) return Number(text);
  return special.get(text.toLowerCase()) ?? mismatch('a number');
}

export function textOfNumber(value: number): string {
  if (typeof value !== 'number') {
    throw failure(TypeError, 'KEVY_EMISUSE', 'the value is not a number');
  }
  if (Object.is(value, -0)) return '-0';
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
}

export function booleanOf(text: string | undefined): boolean | undefined {
  switch (text) {
    case undefined:
      return undefined;
    case 'true':
    case '1':
      return true;
    case 'false':
    case '0':
      return false;
    default:
      return mismatch('a boolean');
  }
}

export function jsonOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return mismatch('JSON');
  }
}

export function textOfJSON(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value) as string | undefined;
  } catch (cause) {
    const error = failure(TypeError, 'KEVY_EMISUSE', `the value has no JSON: ${String(cause)}`);
    throw Object.assign(error, { cause });
  }
  if (text === undefined) {
    throw failure(TypeError, 'KEVY_EMISUSE', 'the value has no JSON');
  }
  return text;
}
