/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Values in and out: every kind of buffer, empty and missing, detached and
 * shared, TTLs, typed values.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKevyNitro, packArgv } from '../dist/index.js';
import { bytes, hex, sleep, text, throwsCode, until, untilCollected } from './help.mjs';

test('bytes come back as they went in', () => {
  const db = createKevyNitro();
  for (const size of [0, 1, 63, 64, 100, 4096, 65535, 65536, 65537, 1 << 20, (1 << 20) + 1]) {
    const value = new Uint8Array(size).map((_, i) => (i * 31 + size) & 255);
    db.setData('k', value.buffer);
    const got = db.getData('k');
    assert.ok(got instanceof ArrayBuffer);
    assert.equal(Buffer.compare(Buffer.from(got), value), 0, `getData of ${size}`);
    assert.equal(Buffer.compare(db.getView('k'), value), 0, `getView of ${size}`);
    const room = new Uint8Array(size + 2);
    assert.equal(db.getInto('k', room, 1), size);
    assert.equal(Buffer.compare(room.subarray(1, size + 1), value), 0, `getInto of ${size}`);
    assert.equal(room[0] + room[size + 1], 0);
  }
});

test('a view is its range, not its buffer', () => {
  const db = createKevyNitro();
  const all = bytes(0, 1, 2, 3, 4, 5, 6, 7);
  const cases = [
    [all.subarray(4, 8), '04050607'],
    [new DataView(all.buffer, 1, 3), '010203'],
    [new Uint16Array(all.buffer, 2, 1), '0203'],
    [new Float64Array(all.buffer), '0001020304050607'],
    [new BigUint64Array(all.buffer), '0001020304050607'],
    [new Int32Array(all.buffer, 4), '04050607'],
    [all.subarray(8), ''],
    [Buffer.from('abc'), '616263'],
    [all.buffer, '0001020304050607'],
  ];
  for (const [value, expected] of cases) {
    db.setData('k', value);
    assert.equal(hex(db.getData('k')), expected);
    assert.equal(db.publish('nobody', value), 0);
  }
  const room = new Uint8Array(8).fill(255);
  db.setData('k', bytes(1, 2));
  assert.equal(db.getInto('k', room.subarray(4, 6)), 2);
  assert.equal(db.getInto('k', new DataView(room.buffer, 1, 2)), 2);
  assert.equal(hex(room), 'ff0102ff0102ffff');
});

test('empty is not missing', () => {
  const db = createKevyNitro();
  db.setData('e', new ArrayBuffer(0));
  db.setString('', 'x');
  assert.equal(db.getData('e').byteLength, 0);
  assert.equal(db.getString('e'), '');
  assert.equal(db.getView('e').length, 0);
  assert.equal(db.getInto('e', new ArrayBuffer(0)), 0);
  assert.equal(db.call('EXISTS', 'e', ''), 2);
  assert.equal(db.getString(''), 'x');
  for (const get of ['getData', 'getString', 'getView', 'getNumber', 'getBoolean', 'getJSON']) {
    assert.equal(db[get]('missing'), undefined);
  }
  assert.equal(db.getInto('missing', new ArrayBuffer(1)), undefined);
  db.subscribe('c');
  db.subNext();
  assert.equal(db.publish('c', new ArrayBuffer(0)), 1);
  assert.match(text(db.subNext()), /\$0\r\n\r\n$/);
});

test('getInto into too small a buffer says how much it takes and writes nothing', () => {
  const db = createKevyNitro();
  db.setString('k', 'hello');
  const room = new Uint8Array(6);
  for (const [at, fits] of [
    [0, true],
    [1, true],
    [2, false],
    [6, false],
  ]) {
    room.fill(0);
    if (fits) {
      assert.equal(db.getInto('k', room, at), 5);
      continue;
    }
    throwsCode(() => db.getInto('k', room, at), 'KEVY_ETOOSMALL', RangeError);
    assert.equal(hex(room), '000000000000');
  }
  assert.throws(() => db.getInto('k', new ArrayBuffer(0)), { size: 5 });
  for (const at of [-1, 7, 0.5, NaN, Infinity]) {
    throwsCode(() => db.getInto('k', room, at), 'KEVY_ERANGE', RangeError);
  }
  for (const at of ['1', null, {}]) {
    throwsCode(() => db.getInto('k', room, at), 'KEVY_EMISUSE', TypeError);
  }
});

test('what is no buffer is a TypeError, and the old value stays', () => {
  const db = createKevyNitro();
  db.setString('k', 'old');
  for (const value of [null, undefined, 'text', 5, {}, [], true, Symbol('s'), 5n, () => 1]) {
    throwsCode(() => db.setData('k', value), 'KEVY_EMISUSE', TypeError);
    throwsCode(() => db.getInto('k', value), 'KEVY_EMISUSE', TypeError);
    throwsCode(() => db.cmd(value), 'KEVY_EMISUSE', TypeError);
  }
  throwsCode(() => db.setData('k'), 'KEVY_EMISUSE', TypeError);
  for (const value of [null, undefined, 5, {}, bytes(1)]) {
    throwsCode(() => db.setString('k', value), 'KEVY_EMISUSE', TypeError);
  }
  for (const key of [null, undefined, 5, {}, [], Symbol('s')]) {
    throwsCode(() => db.getData(key), 'KEVY_EMISUSE', TypeError);
    throwsCode(() => db.setString(key, 'x'), 'KEVY_EMISUSE', TypeError);
  }
  assert.equal(db.getString('k'), 'old');
  assert.equal(db.call('DBSIZE'), 1);
});

test('a detached buffer is a TypeError, never an empty value', () => {
  const db = createKevyNitro();
  db.setString('k', 'old');
  const make = (detach) => {
    const buffer = new ArrayBuffer(8);
    const values = [buffer, new Uint8Array(buffer, 2, 2), new DataView(buffer, 4)];
    detach(buffer);
    return values;
  };
  const values = make((buffer) => structuredClone(buffer, { transfer: [buffer] }));
  if (ArrayBuffer.prototype.transfer) values.push(...make((buffer) => buffer.transfer()));
  for (const value of values) {
    throwsCode(() => db.setData('k', value), 'KEVY_EMISUSE', TypeError);
    throwsCode(() => db.publish('c', value), 'KEVY_EMISUSE', TypeError);
    throwsCode(() => db.cmd(value), 'KEVY_EMISUSE', TypeError);
    throwsCode(() => db.getInto('k', value), 'KEVY_EMISUSE', TypeError);
    throwsCode(() => db.setMany([['k', value]]), 'KEVY_EMISUSE', TypeError);
    throwsCode(() => db.getData(value), 'KEVY_EMISUSE', TypeError);
  }
  assert.equal(db.getString('k'), 'old');
});

test('no code of the caller runs between reading one buffer and the next', () => {
  const db = createKevyNitro();
  const buffer = new ArrayBuffer(1 << 20);
  let asked = 0;
  const detach = () => {
    asked++;
    structuredClone(buffer, { transfer: [buffer] });
    return 0;
  };
  const view = new DataView(new ArrayBuffer(0));
  Object.defineProperty(view, 'byteLength', { get: detach });
  Object.defineProperty(view, 'buffer', { get: detach });
  const array = new Uint8Array(0);
  const traps = { getPrototypeOf: detach, get: detach };
  Object.setPrototypeOf(array, new Proxy(Uint8Array.prototype, traps));
  const empty = new ArrayBuffer(0);
  Object.setPrototypeOf(empty, new Proxy(ArrayBuffer.prototype, traps));
  for (const value of [view, array, empty]) {
    assert.equal(packArgv([buffer, value]).byteLength, buffer.byteLength + 8);
    db.setMany([[value, buffer]]);
    db.setMany([['k', buffer], ['l', value]]);
    assert.equal(db.getInto(value, buffer), buffer.byteLength);
    db.setData(buffer, value);
    assert.equal(db.getData(buffer).byteLength, 0);
  }
  assert.equal(asked, 0);
});

const noResize = !ArrayBuffer.prototype.resize && 'ArrayBuffer.resize: Node 20 and newer';

test('a resizable buffer is read as it is now', { skip: noResize }, () => {
  const db = createKevyNitro();
  const buffer = new ArrayBuffer(8, { maxByteLength: 16 });
  const tracking = new Uint8Array(buffer);
  const fixed = new Uint8Array(buffer, 4, 4);
  tracking.fill(7);
  db.setData('k', tracking);
  assert.equal(db.getData('k').byteLength, 8);
  buffer.resize(6);
  db.setData('k', tracking);
  assert.equal(db.getData('k').byteLength, 6);
  db.setData('k', buffer);
  assert.equal(db.getData('k').byteLength, 6);
  throwsCode(() => db.setData('k', fixed), 'KEVY_EMISUSE', TypeError);
  buffer.resize(16);
  db.setData('k', tracking);
  assert.equal(db.getData('k').byteLength, 16);
});

test('the value is that of the call, whatever happens to the buffer then', () => {
  const db = createKevyNitro();
  const value = new Uint8Array(64).fill(0x11);
  db.setData('k', value);
  db.subscribe('c');
  db.subNext();
  db.publish('c', value);
  value.fill(0x22);
  assert.equal(hex(db.getData('k')), '11'.repeat(64));
  assert.ok(hex(db.subNext()).includes('11'.repeat(64)));
  const got = new Uint8Array(db.getData('k'));
  got.fill(0x33);
  assert.equal(hex(db.getData('k')), '11'.repeat(64));
  const view = db.getView('k');
  db.setData('k', bytes(1));
  for (let i = 0; i < 3000; i++) db.getView('k');
  assert.equal(hex(view), '11'.repeat(64));
});

test('values overwritten over and over stay right, and memory is given back', () => {
  const db = createKevyNitro();
  const last = new Map();
  let seed = 1;
  for (let i = 0; i < 400000; i++) {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    const key = `key:${(seed >> 8) % 5000}`;
    const value = `${i}`.padEnd(seed & 255, '.');
    db.setString(key, value);
    last.set(key, value);
  }
  for (const [key, value] of last) assert.equal(db.getString(key), value);
  assert.equal(db.call('DBSIZE'), last.size);
});

test('two gets of one value are two buffers', () => {
  const db = createKevyNitro();
  db.setData('k', bytes(1, 2, 3));
  db.setData('e', bytes());
  const seen = new Set();
  for (let i = 0; i < 1000; i++) seen.add(db.getData('k')).add(db.getData('e'));
  assert.equal(seen.size, 2000);
});

const noTransfer = !ArrayBuffer.prototype.transfer && 'ArrayBuffer.transfer: Node 21 and newer';

test('views survive the detaching of their slab', { skip: noTransfer }, () => {
  const db = createKevyNitro();
  db.setString('k', 'hello');
  const view = db.getView('k');
  try {
    view.buffer.transfer();
    assert.equal(view.length, 0);
  } catch (error) {
    assert.ok(error instanceof TypeError, 'newer versions refuse it');
    assert.equal(text(view), 'hello');
  }
  assert.equal(text(db.getView('k')), 'hello');
});

test('memory of dropped values is given back', async () => {
  const db = createKevyNitro();
  const size = 1 << 20;
  db.setData('k', new Uint8Array(size));
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 2000; i++) {
    assert.equal(db.getData('k').byteLength, size);
    if (i % 100 === 0) await sleep(0);
  }
  await untilCollected(() => process.memoryUsage().rss - before < 400 * size);
});

test('ttlMs: a number from 0 up, finite', async () => {
  const db = createKevyNitro();
  for (const ttl of [NaN, -1, Infinity, -Infinity, 2 ** 60]) {
    throwsCode(() => db.setData('k', bytes(1), ttl), 'KEVY_ERANGE', RangeError);
    throwsCode(() => db.setString('k', 'x', ttl), 'KEVY_ERANGE', RangeError);
  }
  for (const ttl of ['5', null, {}, 5n, true]) {
    throwsCode(() => db.setData('k', bytes(1), ttl), 'KEVY_EMISUSE', TypeError);
  }
  assert.equal(db.call('DBSIZE'), 0);
  db.setString('k', 'x', 3600000);
  assert.equal(db.getString('k'), 'x');
  assert.ok(db.call('PTTL', 'k') > 3000000);
  db.setString('k', 'x');
  assert.equal(db.call('PTTL', 'k'), -1);
  db.setString('k', 'x', 3600000);
  db.setString('k', 'x', 0);
  assert.equal(db.call('PTTL', 'k'), -1);
  db.setString('soon', 'x', 0.5);
  assert.notEqual(db.call('PTTL', 'soon'), -1);
  db.setString('soon', 'x', 30);
  await until(() => db.getString('soon') === undefined);
});

test('many: all in one, in order, or none', () => {
  const db = createKevyNitro();
  db.setMany([
    ['a', 'x'],
    ['b', bytes(1, 2)],
    [bytes(0xff), new ArrayBuffer(0)],
    ['a', 'last'],
  ]);
  assert.deepEqual(db.getMany(['a', 'b', bytes(0xff), 'c']).map(hex), [
    '6c617374',
    '0102',
    '',
    undefined,
  ]);
  db.setMany(new Map([['m', '1']]));
  db.setMany([]);
  const bad = [
    ['n', '1'],
    ['o', null],
  ];
  throwsCode(() => db.setMany(bad), 'KEVY_EMISUSE', TypeError);
  assert.equal(db.getString('n'), undefined);
  assert.deepEqual(db.getMany([]), []);
  let reads = 0;
  const sly = new Uint8Array(4).fill(1);
  const entries = {
    *[Symbol.iterator]() {
      yield ['s', sly];
      structuredClone(sly.buffer, { transfer: [sly.buffer] });
      reads++;
      yield ['t', 'x'];
    },
  };
  throwsCode(() => db.setMany(entries), 'KEVY_EMISUSE', TypeError);
  assert.equal(reads, 1);
  assert.equal(db.getString('t'), undefined);
});

test('numbers', () => {
  const db = createKevyNitro();
  const numbers = [
    0,
    -0,
    1,
    -1.5,
    5e-324,
    Number.MAX_VALUE,
    2 ** 53,
    0.1,
    Infinity,
    -Infinity,
    NaN,
  ];
  for (const number of numbers) {
    db.setNumber('n', number);
    assert.ok(Object.is(db.getNumber('n'), number), `${number}`);
  }
  db.setNumber('n', 41);
  assert.equal(db.call('INCR', 'n'), 42);
  assert.equal(db.getNumber('n'), 42);
  for (const other of ['', ' ', 'x', '0x10', '1 ', '1_0', '--1', 'true']) {
    db.setString('n', other);
    throwsCode(() => db.getNumber('n'), 'KEVY_ETYPE', TypeError);
  }
  for (const value of ['1', null, undefined, 5n]) {
    throwsCode(() => db.setNumber('n', value), 'KEVY_EMISUSE', TypeError);
  }
  db.setData('raw', bytes(0x40, 0x59, 0, 0, 0, 0, 0, 0));
  throwsCode(() => db.getNumber('raw'), 'KEVY_ETYPE', TypeError);
  throwsCode(() => db.getBoolean('raw'), 'KEVY_ETYPE', TypeError);
  assert.equal(hex(db.getData('raw')), '4059000000000000');
});

test('booleans and JSON', () => {
  const db = createKevyNitro();
  db.setBoolean('b', true);
  assert.equal(db.getBoolean('b'), true);
  db.setBoolean('b', false);
  assert.equal(db.getBoolean('b'), false);
  db.call('SET', 'b', '1');
  assert.equal(db.getBoolean('b'), true);
  throwsCode(() => db.setBoolean('b', 1), 'KEVY_EMISUSE', TypeError);
  const value = { a: [1, null, 'é\ud800'], b: { c: '' } };
  db.setJSON('j', value, 3600000);
  assert.deepEqual(db.getJSON('j'), value);
  assert.ok(db.call('PTTL', 'j') > 0);
  db.setJSON('j', null);
  assert.equal(db.getJSON('j'), null);
  throwsCode(() => db.setJSON('j', undefined), 'KEVY_EMISUSE', TypeError);
  throwsCode(() => db.setJSON('j', () => 1), 'KEVY_EMISUSE', TypeError);
  db.setString('j', '{');
  throwsCode(() => db.getJSON('j'), 'KEVY_ETYPE', TypeError);
});

test('a value in shared memory is stored as one snapshot', async () => {
  const db = createKevyNitro();
  const { Worker } = await import('node:worker_threads');
  const shared = new Uint8Array(new SharedArrayBuffer(4096));
  const worker = new Worker(
    `const { workerData } = require('node:worker_threads');
     for (let i = 0; ; i++) workerData.fill(i & 255);`,
    { eval: true, workerData: shared },
  );
  await sleep(50);
  for (let i = 0; i < 2000; i++) {
    db.setData('k', shared);
    assert.equal(db.getData('k').byteLength, 4096);
  }
  await worker.terminate();
  shared.fill(9);
  db.setData('k', shared.subarray(1, 3));
  assert.equal(hex(db.getData('k')), '0909');
  throwsCode(() => db.setData('k', shared.buffer), 'KEVY_EMISUSE', TypeError);
  assert.equal(db.getInto('k', shared.subarray(5)), 2);
});
