/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Polled subscriptions and publish.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKevyNitro, createKevyNitroAt, parseReply } from '../dist/index.js';
import { bytes, folder, text } from './help.mjs';

const frames = (db) => {
  const all = [];
  for (let frame = db.subNext(); frame !== undefined; frame = db.subNext())
    all.push(parseReply(frame));
  return all;
};

test('frames are what a Redis server pushes', () => {
  const db = createKevyNitro();
  assert.equal(db.subNext(), undefined);
  db.subscribe('c');
  assert.equal(text(db.subNext()), '*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n');
  assert.equal(db.publish('c', 'hello'), 1);
  assert.equal(text(db.subNext()), '*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$5\r\nhello\r\n');
  assert.equal(db.subNext(), undefined);
  db.psubscribe('ch?n*');
  assert.equal(db.publish('channel', bytes(104, 105)), 1);
  assert.deepEqual(frames(db), [
    ['psubscribe', 'ch?n*', 2],
    ['pmessage', 'ch?n*', 'channel', 'hi'],
  ]);
  db.subscribe('channel');
  assert.equal(db.publish('channel', 'x'), 2);
  assert.equal(frames(db).length, 3);
});

test('unsubscribe is acknowledged each time, with what is left', () => {
  const db = createKevyNitro();
  db.unsubscribe('c');
  assert.equal(db.subNext(), undefined);
  db.subscribe('a');
  db.subscribe('b');
  db.unsubscribe('a');
  db.unsubscribe('a');
  db.unsubscribe('never');
  db.punsubscribe('never');
  assert.deepEqual(frames(db), [
    ['subscribe', 'a', 1],
    ['subscribe', 'b', 2],
    ['unsubscribe', 'a', 1],
    ['unsubscribe', 'a', 1],
    ['unsubscribe', 'never', 1],
    ['punsubscribe', 'never', 1],
  ]);
  assert.equal(db.publish('a', 'x'), 0);
  db.unsubscribe('b');
  db.subscribe('b');
  assert.equal(db.publish('b', 'x'), 1);
});

test('subscribe and unsubscribe ten thousand times', () => {
  const db = createKevyNitro();
  for (let i = 0; i < 10000; i++) {
    db.subscribe('c');
    assert.equal(db.publish('c', String(i)), 1);
    db.unsubscribe('c');
    assert.equal(db.publish('c', 'lost'), 0);
    assert.deepEqual(frames(db), [
      ['subscribe', 'c', 1],
      ['message', 'c', String(i)],
      ['unsubscribe', 'c', 0],
    ]);
  }
});

test('publish reaches every handle of the store, commands included', (t) => {
  const dir = folder(t);
  const a = createKevyNitroAt(dir);
  const b = createKevyNitroAt(dir);
  const other = createKevyNitro();
  for (const db of [a, b, other]) {
    db.subscribe('c');
    db.subNext();
  }
  assert.equal(a.publish('c', '1'), 2);
  assert.equal(b.call('PUBLISH', 'c', '2'), 2);
  for (const db of [a, b]) {
    assert.deepEqual(
      frames(db).map((frame) => frame[2]),
      ['1', '2'],
    );
  }
  assert.equal(other.subNext(), undefined);
});

test('channels are exact, payloads any bytes', () => {
  const db = createKevyNitro();
  const names = ['', '\0', 'a\0b', '\ud800', '\ufffd', 'x'.repeat(1000)];
  for (const name of names) db.subscribe(name);
  frames(db);
  names.forEach((name, i) => assert.equal(db.publish(name, bytes(0, i)), 1));
  assert.deepEqual(
    frames(db).map((frame) => frame[2].charCodeAt(1)),
    [0, 1, 2, 3, 4, 5],
  );
});

test('a full queue drops and counts', () => {
  const db = createKevyNitro();
  db.setQueueLimits({ count: 10 });
  db.subscribe('c');
  db.subNext();
  for (let i = 0; i < 25; i++) db.publish('c', String(i));
  assert.equal(db.subDropped(), 15);
  assert.deepEqual(
    frames(db).map((frame) => frame[2]),
    Array.from({ length: 10 }, (_, i) => String(i + 15)),
  );
  db.setQueueLimits({ count: 5, policy: 'drop-newest' });
  for (let i = 0; i < 8; i++) db.publish('c', String(i));
  assert.deepEqual(
    frames(db).map((frame) => frame[2]),
    ['0', '1', '2', '3', '4'],
  );
  assert.equal(db.subDropped(), 18);
  for (const limits of [
    { policy: 'block' },
    { policy: 'toString' },
    { policy: '__proto__' },
    { count: -1 },
    { bytes: NaN },
    { count: 2 ** 32 },
  ]) {
    assert.throws(() => db.setQueueLimits(limits), { code: 'KEVY_ERANGE' });
  }
  for (const limits of [{ count: '5' }, { bytes: 5n }, { count: null }, { bytes: {} }]) {
    assert.throws(() => db.setQueueLimits(limits), { code: 'KEVY_EMISUSE' });
  }
});

test('a large message, drained, then another', () => {
  const db = createKevyNitro();
  db.subscribe('c');
  db.subNext();
  for (let i = 0; i < 3; i++) {
    assert.equal(db.publish('c', new Uint8Array(8 << 20).fill(i)), 1);
    assert.ok(db.subNext().byteLength > 8 << 20);
  }
});
