/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The local fan-out lane: who receives, when, in which order, how often.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKevyBus, createKevyNitro } from '../dist/index.js';
import { bytes, child, hex, text, throwsCode, until } from './help.mjs';

const tick = () => new Promise((resolve) => setImmediate(resolve));

test('delivery is a microtask, FIFO, at most once', async () => {
  const bus = createKevyBus(createKevyNitro());
  const got = [];
  bus.subscribe('a', (payload, channel) => got.push(channel + text(payload)));
  bus.subscribe('b', (payload, channel) => got.push(channel + text(payload)));
  for (let i = 0; i < 5; i++) {
    assert.equal(bus.publish('a', String(i)), 1);
    assert.equal(bus.publish('b', String(i)), 1);
  }
  assert.equal(bus.publish('nobody', 'x'), 0);
  assert.deepEqual(got, []);
  await null;
  assert.deepEqual(got, ['a0', 'b0', 'a1', 'b1', 'a2', 'b2', 'a3', 'b3', 'a4', 'b4']);
  await tick();
  assert.equal(got.length, 10);
});

test('publish counts the engine and the handlers; every publish goes to the engine', async () => {
  const db = createKevyNitro();
  const bus = createKevyBus(db);
  db.subscribe('c');
  db.psubscribe('c*');
  while (db.subNext() !== undefined);
  assert.equal(bus.publish('c', 'x'), 2);
  const off = bus.subscribe('c', () => {});
  bus.subscribe('c', () => {});
  assert.equal(bus.publish('c', 'y'), 4);
  off();
  assert.equal(bus.publish('c', 'z'), 3);
  let frames = 0;
  while (db.subNext() !== undefined) frames++;
  assert.equal(frames, 6);
});

test('a handler here is called by this bus alone', async () => {
  const db = createKevyNitro();
  const bus = createKevyBus(db);
  const other = createKevyBus(db);
  let calls = 0;
  bus.subscribe('c', () => calls++);
  assert.equal(db.publish('c', 'x'), 0);
  assert.equal(other.publish('c', 'x'), 0);
  await tick();
  assert.equal(calls, 0);
});

test('the receivers are those at publish', async () => {
  const bus = createKevyBus(createKevyNitro());
  const got = [];
  const offs = {};
  const on = (name, then = () => {}) => {
    offs[name] = bus.subscribe('c', () => {
      got.push(name);
      then();
    });
  };
  on('a', () => offs.a());
  on('b');
  on('c', () => offs.d());
  on('d');
  on('e', () => on('f'));
  assert.equal(bus.publish('c', '1'), 5);
  await null;
  assert.deepEqual(got.splice(0), ['a', 'b', 'c', 'd', 'e']);
  assert.equal(bus.publish('c', '2'), 4);
  offs.b();
  on('late');
  await null;
  assert.deepEqual(got, ['b', 'c', 'e', 'f']);
});

test('unsubscribing twice removes nothing else', async () => {
  const bus = createKevyBus(createKevyNitro());
  let calls = 0;
  const handler = () => calls++;
  const off = bus.subscribe('c', handler);
  bus.subscribe('c', handler);
  off();
  off();
  assert.equal(bus.publish('c', 'x'), 1);
  await tick();
  assert.equal(calls, 1);
});

test('publishing from a handler comes behind what is queued', async () => {
  const bus = createKevyBus(createKevyNitro());
  const got = [];
  bus.subscribe('c', (payload) => {
    got.push(text(payload));
    if (text(payload) === '1') bus.publish('c', '3');
  });
  bus.publish('c', '1');
  bus.publish('c', '2');
  await tick();
  assert.deepEqual(got, ['1', '2', '3']);
});

test('the payload is copied at publish, once', async () => {
  const bus = createKevyBus(createKevyNitro());
  const seen = [];
  bus.subscribe('c', (payload) => seen.push(payload));
  bus.subscribe('c', (payload) => seen.push(payload));
  const value = bytes(0, 1, 2, 3).subarray(1, 3);
  bus.publish('c', value);
  value.fill(9);
  bus.publish('c', '\ud800');
  await null;
  assert.ok(seen[0] instanceof ArrayBuffer);
  assert.equal(hex(seen[0]), '0102');
  assert.equal(seen[0], seen[1]);
  assert.equal(hex(seen[2]), 'eda080');
});

test('a failed publish delivers nothing', async () => {
  const db = createKevyNitro();
  const bus = createKevyBus(db);
  let calls = 0;
  bus.subscribe('c', () => calls++);
  throwsCode(() => bus.publish('c', null), 'KEVY_EMISUSE', TypeError);
  db.dispose();
  throwsCode(() => bus.publish('c', 'x'), 'KEVY_ECLOSED');
  throwsCode(() => bus.subscribe('c'), 'KEVY_EMISUSE', TypeError);
  throwsCode(() => bus.subscribe(5, () => {}), 'KEVY_EMISUSE', TypeError);
  await tick();
  assert.equal(calls, 0);
});

test('a throwing handler forfeits its own delivery only', async () => {
  const done = await child(`
    const bus = kevy.createKevyBus(kevy.createKevyNitro());
    const seen = [];
    process.on('uncaughtException', (error) => seen.push(error.message));
    bus.subscribe('c', () => { throw new Error('first'); });
    bus.subscribe('c', () => seen.push('second'));
    bus.publish('c', 'x');
    bus.publish('c', 'y');
    setTimeout(() => console.log(seen.join()), 20);
  `);
  assert.equal(done.out, 'second,second,first,first\n', done.err);
});

test('bus and push see the same message, each once', async () => {
  const db = createKevyNitro();
  const bus = createKevyBus(db);
  let pushed = 0;
  let local = 0;
  db.subscribePushBatched('c', (_, count) => (pushed += count));
  bus.subscribe('c', () => local++);
  for (let i = 0; i < 100; i++) assert.equal(bus.publish('c', 'x'), 2);
  await until(() => pushed === 100);
  assert.equal(local, 100);
  db.dispose();
});
