/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Packed commands, packed frames, replies.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  KevyReplyError,
  createKevyNitro,
  packArgv,
  parseReply,
  unpackFrames,
} from '../dist/index.js';
import { bytes, hex, text, throwsCode } from './help.mjs';

test('cmd answers in RESP2, error replies included', () => {
  const db = createKevyNitro();
  const cmd = (...args) => text(db.cmd(packArgv(args)));
  assert.equal(cmd('PING'), '+PONG\r\n');
  assert.equal(cmd('SET', 'k', bytes(0, 1)), '+OK\r\n');
  assert.equal(cmd('GET', 'k'), '$2\r\n\0\x01\r\n');
  assert.equal(cmd('GET', 'none'), '$-1\r\n');
  assert.match(cmd('NOSUCH'), /^-ERR unknown command/);
  assert.match(cmd('GET'), /^-ERR wrong number of arguments/);
  assert.ok(db.cmd(packArgv(['PING'])) instanceof ArrayBuffer);
});

test('packArgv', () => {
  const packed = packArgv([
    'SET',
    'é',
    bytes(1, 2).subarray(1),
    new ArrayBuffer(1),
    new DataView(new ArrayBuffer(2)),
  ]);
  assert.ok(packed instanceof ArrayBuffer);
  assert.equal(
    hex(packed),
    '03000000534554' + '02000000c3a9' + '0100000002' + '0100000000' + '020000000000',
  );
  assert.equal(packArgv([]).byteLength, 0);
  assert.equal(hex(packArgv(new Set(['a']))), '0100000061');
  for (const args of [[null], ['a', undefined], [5], [{}]]) {
    throwsCode(() => packArgv(args), 'KEVY_EMISUSE', TypeError);
  }
});

test('a malformed pack runs nothing', () => {
  const db = createKevyNitro();
  const good = new Uint8Array(packArgv(['SET', 'k', 'value']));
  for (let cut = 0; cut < good.length; cut++) {
    const isWhole = [7, 12].includes(cut);
    if (isWhole) assert.match(text(db.cmd(good.slice(0, cut))), /^-ERR/);
    else throwsCode(() => db.cmd(good.slice(0, cut)), 'KEVY_EMISUSE', TypeError);
  }
  const long = good.slice();
  long[12] = 6;
  throwsCode(() => db.cmd(long), 'KEVY_EMISUSE', TypeError);
  long[15] = 255;
  throwsCode(() => db.cmd(long), 'KEVY_EMISUSE', TypeError);
  assert.equal(db.call('DBSIZE'), 0);
  db.cmd(good);
  assert.equal(db.getString('k'), 'value');
});

test('call reads replies and throws error replies', () => {
  const db = createKevyNitro();
  assert.equal(db.call('SET', 'n', 5), 'OK');
  assert.equal(db.call('INCRBY', 'n', 2), 7);
  assert.deepEqual(db.call('MGET', 'n', 'none'), ['7', null]);
  assert.deepEqual(db.call('KEYS', 'x*'), []);
  db.setString('big', '9223372036854775806');
  assert.equal(db.call('INCR', 'big'), 9223372036854775807n);
  throwsCode(() => db.call('INCR', 'big'), 'ERR', KevyReplyError);
  throwsCode(() => db.call('GET'), 'ERR', KevyReplyError);
});

test('parseReply', () => {
  const parse = (reply, isBinary) => parseReply(Buffer.from(reply), isBinary);
  assert.equal(parse('+OK\r\n'), 'OK');
  assert.equal(parse(':-5\r\n'), -5);
  assert.equal(parse(':-9223372036854775808\r\n'), -9223372036854775808n);
  assert.equal(parse('$0\r\n\r\n'), '');
  assert.equal(parse('*-1\r\n'), null);
  assert.deepEqual(parse('*2\r\n*0\r\n*2\r\n:1\r\n$1\r\na\r\n'), [[], [1, 'a']]);
  assert.deepEqual([...parse('$2\r\n\r\n\r\n', true)], [13, 10]);
  const inner = parse('*1\r\n-ERR no\r\n');
  assert.ok(inner[0] instanceof KevyReplyError && inner[0].message === 'ERR no');
  let nested = parse('*1\r\n'.repeat(100000) + ':1\r\n');
  let depth = 0;
  for (; Array.isArray(nested); nested = nested[0]) depth++;
  assert.equal(depth, 100000);
  for (const bad of [
    '',
    '+OK',
    '+OK\r',
    '$5\r\nab\r\n',
    '$x\r\n',
    '*2\r\n:1\r\n',
    'OK\r\n',
    ':1\r\n:2\r\n',
    '*x\r\n',
    '*-5\r\n',
    '*\r\n',
    '$-5\r\n',
    '$\r\n\r\n',
    '$0x1\r\na\r\n',
    '$1\r\naXY',
    ':\r\n',
    ':1.5\r\n',
    ':1e3\r\n',
    ':x\r\n',
  ]) {
    throwsCode(() => parse(bad), 'KEVY_ERANGE', RangeError);
  }
});

test('unpackFrames: views, and errors for what is malformed', () => {
  const packed = packArgv(['ab', '', 'c']);
  const frames = unpackFrames(packed, 3);
  assert.deepEqual(frames.map(text), ['ab', '', 'c']);
  assert.ok(frames.every((frame) => frame.buffer === packed));
  const shifted = new Uint8Array(packed.byteLength + 3);
  shifted.set(new Uint8Array(packed), 3);
  assert.deepEqual(unpackFrames(shifted.subarray(3), 3).map(text), ['ab', '', 'c']);
  assert.deepEqual(unpackFrames(new ArrayBuffer(0), 0), []);
  for (const [buffer, count] of [
    [packed, 2],
    [packed, 4],
    [packed, 0],
    [packed, -1],
    [packed, NaN],
    [packed.slice(0, 5), 1],
    [packed.slice(0, 3), 1],
    [bytes(255, 255, 255, 255, 0).buffer, 1],
    [new ArrayBuffer(0), 1],
  ]) {
    throwsCode(() => unpackFrames(buffer, count), 'KEVY_ERANGE', RangeError);
  }
});
