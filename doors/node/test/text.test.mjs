/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Keys and text: exact at every length, lone surrogates and NUL included, and
 * a stated rule for bytes that are no text.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKevyNitro, packArgv } from '../dist/index.js';
import { bytes, hex, throwsCode } from './help.mjs';

test('different strings are different keys', () => {
  const db = createKevyNitro();
  const keys = [
    '',
    '\0',
    '\0\0',
    'a\0b',
    'a',
    'é',
    'e\u0301',
    '\u0100',
    '\u0000\u0001',
    '\ud800',
    '\udc00',
    '\udc00\ud800',
    '\ud83d\ude3a',
    '\ud83d',
    '\ude3a',
    '\uffff',
    '\ufffd',
    '\u{10ffff}',
    '\ufeff',
    'ÿ',
    '\u01ff',
    '中',
    'x'.repeat(254),
    'x'.repeat(255),
    'x'.repeat(256),
    'é'.repeat(255),
    '\ud800'.repeat(300),
    'x'.repeat(100000),
    'x'.repeat(254) + '\u{1f600}',
    'k'.repeat(7) + 'é',
    'k'.repeat(8) + 'é',
    'k'.repeat(9) + '\ud800',
  ];
  keys.forEach((key, i) => db.setString(key, String(i)));
  assert.equal(db.call('DBSIZE'), keys.length);
  keys.forEach((key, i) => assert.equal(db.getString(key), String(i)));
  db.setString('\ud800', 'high');
  assert.equal(db.getString('\ufffd'), String(keys.indexOf('\ufffd')));
});

test('a key is its WTF-8 bytes, on every lane', () => {
  const db = createKevyNitro();
  const cases = [
    ['a\0b', '610062'],
    ['é', 'c3a9'],
    ['中', 'e4b8ad'],
    ['\u{1f575}', 'f09f95b5'],
    ['\ud800', 'eda080'],
    ['\udfff', 'edbfbf'],
    ['\u{10ffff}', 'f48fbfbf'],
  ];
  for (const [key, encoded] of cases) {
    db.setString(key, 'x');
    assert.equal(db.getString(Buffer.from(encoded, 'hex')), 'x');
    assert.equal(hex(packArgv([key])).slice(8), encoded);
    assert.equal(db.call('DEL', key), 1);
    db.setString('value', key);
    assert.equal(hex(db.getData('value')), encoded);
    assert.equal(db.getString('value'), key);
  }
});

test('strings of every length come back', () => {
  const db = createKevyNitro();
  const parts = ['a', 'é', '中', '\u{1f600}', '\ud800', '\0'];
  for (const length of [0, 1, 7, 8, 9, 254, 255, 256, 257, 1000, 65535, 65536, 70000]) {
    for (const part of parts) {
      const value = part.repeat(length);
      db.setString('k', value);
      assert.ok(db.getString('k') === value, `${length} times ${JSON.stringify(part)}`);
    }
  }
  const mixed = Array.from({ length: 50000 }, (_, i) => parts[i % 4]).join('');
  db.setString('k', mixed);
  assert.ok(db.getString('k') === mixed);
});

test('a million characters of four bytes and of three', () => {
  const db = createKevyNitro();
  for (const [part, size] of [
    ['\u{1f600}', 4],
    ['\u0800', 3],
  ]) {
    const value = part.repeat(1000000);
    db.setString('k', value);
    assert.equal(db.call('STRLEN', 'k'), size * 1000000);
    assert.ok(db.getString('k') === value);
  }
});

test('bytes that are no text become U+FFFD, and stay what they are', () => {
  const db = createKevyNitro();
  const cases = [
    ['74666dd5', 'tfm\ufffd'],
    ['c080', '\ufffd\ufffd'],
    ['f4908080', '\ufffd\ufffd\ufffd\ufffd'],
    ['f888808080', '\ufffd\ufffd\ufffd\ufffd\ufffd'],
    ['80', '\ufffd'],
    ['e282', '\ufffd'],
    ['e28241', '\ufffdA'],
    ['f09f98', '\ufffd'],
    ['fffe0080', '\ufffd\ufffd\0\ufffd'],
    ['eda080', '\ud800'],
    ['efbbbf41', '\ufeffA'],
  ];
  for (const [raw, expected] of cases) {
    db.setData('k', Buffer.from(raw, 'hex'));
    assert.equal(db.getString('k'), expected, raw);
    assert.equal(hex(db.getData('k')), raw);
  }
});

test('what is well-formed reads as TextDecoder reads it', () => {
  const db = createKevyNitro();
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let seed = 7;
  for (let round = 0; round < 2000; round++) {
    const raw = new Uint8Array(round % 40).map(() => {
      seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
      const byte = (seed >> 8) & 255;
      return byte === 0xed ? 0xee : byte;
    });
    db.setData('k', raw);
    assert.equal(db.getString('k'), decoder.decode(raw), hex(raw));
  }
});

test('text longer than V8 can hold: an error that names the limit', () => {
  const db = createKevyNitro();
  const value = new Uint8Array(536870889).fill(97);
  db.setData('k', value);
  throwsCode(() => db.getString('k'), 'KEVY_ELIMIT', RangeError);
  assert.throws(() => db.getString('k'), /536870888/);
  assert.equal(db.call('STRLEN', 'k'), 536870889);
  const back = db.getData('k');
  assert.equal(back.byteLength, 536870889);
  assert.equal(new Uint8Array(back)[536870888], 97);
  db.setData('k', value.subarray(0, 333000000));
  assert.equal(db.getString('k').length, 333000000);
});

test('values beyond the engine’s limit are refused', () => {
  const db = createKevyNitro();
  db.setString('k', 'old');
  throwsCode(() => db.setData('k', new Uint8Array(536870913)), 'KEVY_ELIMIT', RangeError);
  assert.equal(db.getString('k'), 'old');
  db.setData('k', bytes(1));
  assert.equal(hex(db.getData('k')), '01');
});
