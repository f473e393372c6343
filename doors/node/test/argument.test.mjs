/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Every method against arguments that are wrong: an exception with a code that
 * begins with KEVY_, and the store as it was. What user code throws from within
 * (iterators, toJSON) is left as it is, but for JSON, where it is the cause.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as kevy from '../dist/index.js';
import { bytes, folder, text, throwsCode, until } from './help.mjs';

const { KevyNitro, createKevyBus, createKevyNitro, createKevyNitroAt } = kevy;

/* Neither text nor bytes, whatever they claim to be. */
const nothings = () => {
  const detached = new ArrayBuffer(8);
  const view = new Uint8Array(detached, 4);
  structuredClone(detached, { transfer: [detached] });
  return [
    undefined,
    null,
    5,
    NaN,
    5n,
    true,
    Symbol('s'),
    {},
    [],
    [1, 2],
    () => {},
    new Map(),
    new Proxy(new Uint8Array(4), {}),
    new Proxy(new ArrayBuffer(4), {}),
    { byteLength: 4, buffer: new ArrayBuffer(4), byteOffset: 0 },
    { [Symbol.toStringTag]: 'ArrayBuffer', byteLength: 4 },
    Object.create(ArrayBuffer.prototype),
    Object.create(Uint8Array.prototype),
    new SharedArrayBuffer(4),
    detached,
    view,
    new String('boxed'),
  ];
};

const refused = (run, value) =>
  throwsCode(run, 'KEVY_EMISUSE', TypeError, value);

test('what is neither text nor bytes is no key, value, channel or pack', () => {
  const db = createKevyNitro();
  db.setString('k', 'v');
  const room = new Uint8Array(8);
  const takers = {
    getData: (x) => db.getData(x),
    getInto: (x) => db.getInto(x, room),
    room: (x) => db.getInto('k', x),
    getView: (x) => db.getView(x),
    getString: (x) => db.getString(x),
    getNumber: (x) => db.getNumber(x),
    getBoolean: (x) => db.getBoolean(x),
    getJSON: (x) => db.getJSON(x),
    setDataKey: (x) => db.setData(x, room),
    setDataValue: (x) => db.setData('k', x),
    setStringKey: (x) => db.setString(x, 'v'),
    setStringValue: (x) => db.setString('k', x),
    setManyKey: (x) => db.setMany([['a', 'b'], [x, 'v']]),
    setManyValue: (x) => db.setMany([['a', 'b'], ['k', x]]),
    getMany: (x) => db.getMany(['k', x]),
    cmd: (x) => db.cmd(x),
    packArgv: (x) => kevy.packArgv(['SET', x]),
    publishChannel: (x) => db.publish(x, 'v'),
    publishPayload: (x) => db.publish('c', x),
    subscribe: (x) => db.subscribe(x),
    psubscribe: (x) => db.psubscribe(x),
    unsubscribe: (x) => db.unsubscribe(x),
    subscribePush: (x) => db.subscribePush(x, () => {}),
    psubscribePush: (x) => db.psubscribePush(x, () => {}),
    subscribePushBatched: (x) => db.subscribePushBatched(x, () => {}),
    psubscribePushBatched: (x) => db.psubscribePushBatched(x, () => {}),
    unpackFrames: (x) => kevy.unpackFrames(x, 0),
    busPayload: (x) => createKevyBus(db).publish('c', x),
  };
  for (const [name, take] of Object.entries(takers)) {
    for (const value of nothings()) {
      if (name === 'unpackFrames' && value instanceof SharedArrayBuffer) continue;
      assert.throws(
        () => take(value),
        (error) => error.code === 'KEVY_EMISUSE' && error instanceof TypeError,
        `${name} of ${typeof value} ${Object.prototype.toString.call(value)}`,
      );
    }
  }
  for (const value of nothings()) {
    if (typeof value === 'number' || typeof value === 'bigint') continue;
    throwsCode(() => db.call('SET', 'k', value), 'KEVY_EMISUSE', TypeError);
  }
  assert.equal(db.getString('k'), 'v');
  assert.equal(db.call('DBSIZE'), 1);
  db.dispose();
});

test('lists that are none, and callbacks that are none', () => {
  const db = createKevyNitro();
  for (const value of [undefined, null, 5, 'ab', {}, () => {}, Symbol('s'), 5n, bytes(1)]) {
    refused(() => db.setMany(value));
    refused(() => db.getMany(value));
    refused(() => kevy.packArgv(value));
    if (value !== 'ab') refused(() => db.setMany([['a', '1'], value]));
  }
  refused(() => db.setMany(['ab']));
  refused(() => db.setMany([['a']]));
  refused(() => db.setMany(new Map([['a', null]])));
  for (const value of [undefined, null, 5, 'f', {}, []]) {
    refused(() => db.subscribePush('c', value));
    refused(() => db.psubscribePush('c', value));
    refused(() => db.subscribePushBatched('c', value));
    refused(() => db.psubscribePushBatched('c', value));
    refused(() => db.onChange(value));
    refused(() => createKevyBus(db).subscribe('c', value));
    if (value !== 'f') refused(() => createKevyBus(db).subscribe(value, () => {}));
    if (value !== 'f') refused(() => createKevyBus(db).publish(value, 'x'));
    refused(() => createKevyBus(value));
  }
  refused(() => createKevyBus(db).publish(bytes(99), 'x'));
  const mine = new Error('mine');
  const next = () => {
    throw mine;
  };
  const thrower = { [Symbol.iterator]: () => ({ next }) };
  for (const take of [(x) => db.setMany(x), (x) => db.getMany(x), kevy.packArgv]) {
    assert.throws(
      () => take(thrower),
      (error) => error === mine,
    );
  }
  assert.deepEqual(db.getMany([]), []);
  db.setMany([]);
  assert.equal(kevy.packArgv([]).byteLength, 0);
  refused(() => db.cmd(new ArrayBuffer(0)));
  refused(() => db.call());
  assert.equal(db.call('DBSIZE'), 0);
  db.dispose();
});

test('options, directories and limits', (t) => {
  const dir = folder(t);
  const bad = [null, 5, NaN, 'everysec', true, () => {}, 5n, Symbol('s')];
  for (const options of bad) {
    refused(() => createKevyNitro(options));
    refused(() => createKevyNitroAt(dir, options));
    refused(() => new KevyNitro(undefined, options));
    const db = createKevyNitro();
    refused(() => db.openAt(dir, options));
    refused(() => db.setQueueLimits(options));
    db.dispose();
  }
  for (const fsync of [null, 0, 'sometimes', {}]) {
    throwsCode(() => createKevyNitro({ fsync }), 'KEVY_ERANGE', RangeError);
  }
  for (const path of [null, 5, {}, [], { href: 5 }, () => {}, true]) {
    refused(() => createKevyNitroAt(path));
    refused(() => new KevyNitro(path));
  }
  refused(() => createKevyNitroAt());
  for (const path of ['', 'a\0b', new URL('https://example.org/x'), 'file://host/x']) {
    throwsCode(() => createKevyNitroAt(path), 'KEVY_EPATH');
  }
  const db = createKevyNitro();
  refused(() => db.setQueueLimits());
  for (const limits of [{ count: '1' }, { bytes: 1n }, { count: null }]) {
    refused(() => db.setQueueLimits(limits));
  }
  for (const value of [-1, 0.5, NaN, Infinity, 2 ** 60]) {
    throwsCode(() => db.setQueueLimits({ count: value }), 'KEVY_ERANGE', RangeError);
    throwsCode(() => db.setQueueLimits({ bytes: value }), 'KEVY_ERANGE', RangeError);
  }
  throwsCode(() => db.setQueueLimits({ policy: 'block' }), 'KEVY_ERANGE', RangeError);
  db.dispose();
});

test('numbers: times to live, offsets, counts', () => {
  const db = createKevyNitro();
  db.setString('k', 'v', 60_000);
  const setters = [
    (ttl) => db.setData('k', bytes(1), ttl),
    (ttl) => db.setString('k', 'x', ttl),
    (ttl) => db.setNumber('k', 1, ttl),
    (ttl) => db.setBoolean('k', true, ttl),
    (ttl) => db.setJSON('k', {}, ttl),
  ];
  for (const set of setters) {
    for (const ttl of [NaN, -1, -Number.MIN_VALUE, Infinity, -Infinity, 2 ** 53, 1e300]) {
      throwsCode(() => set(ttl), 'KEVY_ERANGE', RangeError);
    }
    for (const ttl of [null, '5', 5n, {}, true, Symbol('s')]) refused(() => set(ttl));
  }
  assert.equal(db.getString('k'), 'v');
  assert.ok(db.call('PTTL', 'k') > 0, 'the time to live is as it was');
  const room = new Uint8Array(4);
  for (const offset of [-1, 5, NaN, 0.5, Infinity, 2 ** 53]) {
    throwsCode(() => db.getInto('k', room, offset), 'KEVY_ERANGE', RangeError);
  }
  for (const offset of [null, '1', 1n, {}]) refused(() => db.getInto('k', room, offset));
  throwsCode(() => db.getInto('k', room, 4), 'KEVY_ETOOSMALL', RangeError);
  assert.equal(db.getInto('k', room, 3), 1);
  const packed = kevy.packArgv(['a']);
  for (const count of [0, 2, -1, NaN, 0.5, Infinity]) {
    throwsCode(() => kevy.unpackFrames(packed, count), 'KEVY_ERANGE', RangeError);
  }
  for (const count of [undefined, null, '1', 1n]) refused(() => kevy.unpackFrames(packed, count));
  db.dispose();
});

test('values that have no text', () => {
  const db = createKevyNitro();
  const cycle = {};
  cycle.self = cycle;
  const mine = new Error('mine');
  const throwing = { toJSON: () => { throw mine; } };
  for (const value of [undefined, () => {}, Symbol('s'), cycle, { n: 5n }, throwing]) {
    refused(() => db.setJSON('k', value));
  }
  assert.throws(() => db.setJSON('k', throwing), (error) => error.cause === mine);
  for (const value of [undefined, null, '1', {}, 5n]) refused(() => db.setNumber('k', value));
  for (const value of [undefined, null, 1, 'true', {}]) refused(() => db.setBoolean('k', value));
  assert.equal(db.getData('k'), undefined);
  db.dispose();
});

test('getters and iterators that change buffers meanwhile', () => {
  const db = createKevyNitro();
  const first = new Uint8Array(64).fill(1);
  const entries = {
    *[Symbol.iterator]() {
      yield ['a', first];
      structuredClone(first.buffer, { transfer: [first.buffer] });
      yield ['b', 'x'];
    },
  };
  refused(() => db.setMany(entries));
  assert.equal(db.call('DBSIZE'), 0);
  class Liar extends Uint8Array {
    get byteLength() { return 1e9; }
    get length() { return 1e9; }
    get buffer() { throw new Error('asked'); }
    get byteOffset() { return -5; }
  }
  const liar = new Liar([1, 2, 3]);
  db.setData('k', liar);
  assert.deepEqual(new Uint8Array(db.getData('k')), bytes(1, 2, 3));
  const heard = [];
  const bus = createKevyBus(db);
  bus.subscribe('c', (payload) => heard.push(payload.byteLength));
  assert.equal(bus.publish('c', liar), 1);
  queueMicrotask(() => assert.deepEqual(heard, [3]));
  db.dispose();
});

const skip = !('resize' in ArrayBuffer.prototype) && 'needs resizable ArrayBuffers';

test('resizable buffers and views that their buffer left', { skip }, () => {
  const db = createKevyNitro();
  const buffer = new ArrayBuffer(8, { maxByteLength: 64 });
  const tracking = new Uint8Array(buffer);
  const fixed = new Uint8Array(buffer, 4, 4);
  tracking.set([1, 2, 3, 4, 5, 6, 7, 8]);
  buffer.resize(6);
  db.setData('t', tracking);
  assert.equal(db.getData('t').byteLength, 6);
  refused(() => db.setData('t', fixed));
  refused(() => db.getInto('t', fixed));
  buffer.resize(64);
  assert.equal(db.getInto('t', tracking), 6);
  db.setData('f', fixed);
  assert.equal(db.getData('f').byteLength, 4);
  const view = new DataView(buffer, 60);
  buffer.resize(10);
  refused(() => db.setData('t', view));
  const shared = new Uint8Array(new SharedArrayBuffer(4, { maxByteLength: 16 }));
  shared.buffer.grow?.(16);
  db.setData('s', shared);
  assert.equal(db.getData('s').byteLength, shared.length);
  assert.equal(db.getData('t').byteLength, 6);
  db.dispose();
});

test('a store that is full says so', () => {
  const db = createKevyNitro();
  db.setString('a', 'x'.repeat(1000));
  db.call('CONFIG', 'SET', 'maxmemory', '1');
  throwsCode(() => db.setString('b', 'x'), 'KEVY_EMEMORY');
  throwsCode(() => db.setMany([['b', 'x']]), 'KEVY_EMEMORY');
  assert.equal(db.getString('a').length, 1000);
  db.dispose();
});

test('getMany: order, misses, types, every kind of key', async () => {
  const db = createKevyNitro();
  const big = new Uint8Array(3 << 20).fill(7);
  db.setMany([['a', '1'], ['', 'empty'], ['\ud800', 'high'], ['e', ''], ['big', big]]);
  db.call('SETBIT', 'bits', 0, 1);
  const keys = new Set(['a', 'none', '', '\ud800', bytes(97), 'e', 'big', 'a\0', 'bits']);
  const got = db.getMany(keys);
  assert.equal(got.length, 9);
  assert.deepEqual(got.map((one) => one && (one.byteLength < 10 ? text(one) : one.byteLength)), [
    '1', undefined, 'empty', 'high', '1', '', big.length, undefined, '\ufffd',
  ]);
  assert.ok(1 in got && got[0] instanceof ArrayBuffer);
  new Uint8Array(got[0])[0] = 0;
  assert.equal(db.getString('a'), '1', 'the copy is the caller\'s');
  const many = Array.from({ length: 20_000 }, (_, i) => 'n' + i);
  db.setMany(many.map((key) => [key, key]));
  assert.deepEqual(db.getMany(many).map(text), many);
  db.dispose();
  throwsCode(() => db.getMany(['a']), 'KEVY_ECLOSED');
});
