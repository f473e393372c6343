/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Change listeners: causes and keys, order, beginning and end, other handles,
 * floods, exceptions, collection, processes and workers that end meanwhile.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createKevyNitro, createKevyNitroAt } from '../dist/index.js';
import {
  bytes,
  child,
  entry,
  folder,
  gc,
  hex,
  sleep,
  throwsCode,
  until,
  untilCollected,
} from './help.mjs';

const short = ({ cause, key }) => (key === undefined ? cause : `${cause} ${key}`);

/** Collects what a listener is told. */
function ear(db) {
  const heard = [];
  const off = db.onChange((change) => heard.push(change));
  return { heard, off, short: () => heard.map(short) };
}

test('each change once, with its cause, in order, readable', async () => {
  const db = createKevyNitro();
  const seen = [];
  db.onChange(({ cause, key, isOther, database, lost }) => {
    seen.push([cause, key, isOther, database, lost, key && db.getString(key)]);
  });
  db.setString('a', '1');
  db.setMany([['b', '2'], ['c', '3']]);
  db.call('SETBIT', 'h', 7, 1);
  db.call('DEL', 'a', 'nothing');
  db.getData('b');
  db.call('EXPIRE', 'b', -1);
  assert.deepEqual(seen, [], 'told from the event loop, not from inside of the call');
  await until(() => seen.length === 6);
  db.call('FLUSHALL');
  await until(() => seen.length === 7);
  assert.deepEqual(seen, [
    ['set', 'a', false, 0, 0, undefined],
    ['set', 'b', false, 0, 0, undefined],
    ['set', 'c', false, 0, 0, '3'],
    ['set', 'h', false, 0, 0, '\x01'],
    ['del', 'a', false, 0, 0, undefined],
    ['expire', 'b', true, 0, 0, undefined],
    ['clear', undefined, false, 0, 0, undefined],
  ]);
  db.dispose();
});

test('a time to live that passes is told without anyone looking', async () => {
  const db = createKevyNitro();
  const { heard, short } = ear(db);
  db.setString('k', 'v', 30);
  await until(() => heard.length === 2);
  assert.deepEqual(short(), ['set k', 'expire k']);
  assert.equal(heard[1].isOther, true);
  db.dispose();
});

test('keys are exact, as text and as bytes', async () => {
  const db = createKevyNitro();
  const { heard } = ear(db);
  const long = 'x'.repeat(1e5);
  const names = ['', '\0', 'a\0b', '\ud800', '\udc00', '\ud83d\ude00', 'é', '\uffff', long];
  for (const name of names) db.setString(name, 'v');
  db.setString(bytes(0xff, 0, 0xfe), 'v');
  await until(() => heard.length === names.length + 1);
  assert.deepEqual(heard.slice(0, -1).map(({ key }) => key), names);
  assert.equal(heard[3].keyBytes.length, 3);
  assert.equal(hex(heard.at(-1).keyBytes), 'ff00fe');
  assert.equal(heard.at(-1).key, '\ufffd\0\ufffd');
  for (const { keyBytes } of heard) assert.equal(db.getString(keyBytes), 'v');
  db.dispose();
});

test('a listener hears what changes from its add to its removal', async () => {
  const db = createKevyNitro();
  const a = ear(db);
  db.setString('1', '');
  const b = ear(db);
  db.setString('2', '');
  a.off();
  a.off();
  db.setString('3', '');
  const c = ear(db);
  db.setString('4', '');
  await until(() => c.heard.length === 1);
  assert.deepEqual(a.short(), [], 'removed before anything was told');
  assert.deepEqual(b.short(), ['set 2', 'set 3', 'set 4']);
  assert.deepEqual(c.short(), ['set 4']);
  b.off();
  c.off();
  const d = ear(db);
  db.setString('5', '');
  await until(() => d.heard.length === 1);
  assert.equal(b.heard.length + c.heard.length, 4);
  db.dispose();
});

test('listeners may add, remove, write and dispose', async () => {
  const db = createKevyNitro();
  const heard = [];
  const offs = {};
  const listen = (name, also = () => {}) => {
    offs[name] = db.onChange((change) => {
      heard.push(`${name}:${change.key}`);
      also(change);
    });
  };
  listen('a', ({ key }) => key === '1' && offs.a());
  listen('b', ({ key }) => key === '1' && db.setString('2', ''));
  listen('c', ({ key }) => {
    if (key === '1') offs.d();
    if (key === '2' && offs.e === undefined) listen('e');
    if (key === '3') db.dispose();
  });
  listen('d');
  db.setString('1', '');
  await until(() => offs.e !== undefined);
  db.setString('3', '');
  db.setString('4', '');
  await until(() => heard.includes('c:3'));
  await sleep(20);
  assert.deepEqual(heard, ['a:1', 'b:1', 'c:1', 'b:2', 'c:2', 'b:3', 'c:3']);
  for (const off of Object.values(offs)) off();
  throwsCode(() => db.onChange(() => {}), 'KEVY_ECLOSED');
});

test('other objects, doors and openAt', async (t) => {
  const dir = folder(t);
  const here = createKevyNitroAt(dir);
  const there = createKevyNitroAt(dir);
  const { heard, short } = ear(here);
  there.setString('a', '');
  here.setString('b', '');
  there.dispose();
  await until(() => heard.length === 2);
  assert.deepEqual(heard.map(({ isOther }) => isOther), [true, false]);
  here.openAt(dir);
  here.setString('c', '');
  const again = ear(here);
  here.setString('d', '');
  await until(() => again.heard.length === 1);
  assert.deepEqual(short(), ['set a', 'set b'], 'openAt ends what the object had');
  assert.deepEqual(again.short(), ['set d']);
  here.dispose();
});

test('what evicts, and the database', async () => {
  const db = createKevyNitro();
  db.setString('old', 'x'.repeat(1000));
  const { heard } = ear(db);
  db.call('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-random');
  db.call('CONFIG', 'SET', 'maxmemory', '1');
  await until(() => heard.some(({ cause }) => cause === 'evict'));
  const { key, isOther } = heard.find(({ cause }) => cause === 'evict');
  assert.deepEqual([key, isOther], ['old', true]);
  db.call('CONFIG', 'SET', 'maxmemory', '0');
  db.setString('k', 'v');
  db.call('MOVE', 'k', '3');
  await until(() => heard.some(({ database }) => database === 3));
  db.dispose();
});

test('a listener that throws takes nothing from the others', async () => {
  const source = `
    const db = kevy.createKevyNitro().ref();
    const seen = [];
    process.on('uncaughtException', (error) => seen.push(error.message));
    db.onChange(({ key }) => { throw new Error(key); });
    db.onChange(({ key }) => {
      seen.push(key.toUpperCase());
      if (key === 'c') setImmediate(() => { console.log(seen.sort().join()); db.dispose(); });
    });
    for (const key of 'abc') db.setString(key, '');`;
  const { code, out, err } = await child(source);
  assert.equal(out, 'A,B,C,a,b,c\n', err);
  assert.equal(code, 0);
});

test('who does not keep up is told how much is missing', async () => {
  const db = createKevyNitro();
  const { heard } = ear(db);
  const key = 'k'.repeat(60_000);
  const writes = 400; /* of 60,000 bytes each: more than the 16 MiB that wait */
  for (let i = 0; i < writes; i++) db.setString(key + i, '');
  await until(() => heard.at(-1)?.cause === 'lost');
  db.setString('after', '');
  await until(() => heard.at(-1)?.key === 'after');
  const lost = heard.filter(({ cause }) => cause === 'lost');
  assert.equal(lost.length, 1);
  assert.ok(lost[0].lost > 0 && lost[0].key === undefined && lost[0].keyBytes === undefined);
  const told = heard.filter(({ cause }) => cause === 'set').length - 1;
  assert.equal(told + lost[0].lost, writes);
  for (let i = 0; i < told; i++) assert.equal(heard[i].key, key + i);
  db.dispose();
});

test('delivery of many is sliced: timers run in between', async () => {
  const db = createKevyNitro();
  let heard = 0;
  let turns = 0;
  db.onChange(() => {
    heard++;
    for (const end = performance.now() + 1; performance.now() < end; );
  });
  for (let i = 0; i < 100; i++) db.setString('k', String(i));
  const timer = setInterval(() => turns++, 0);
  await until(() => heard === 100);
  clearInterval(timer);
  assert.ok(turns > 2, `${turns} turns`);
  for (let i = 0; i < 100; i++) db.setString('k', String(i));
  await until(() => heard > 100);
  db.dispose();
  const now = heard;
  await sleep(30);
  assert.equal(heard, now, 'nothing after dispose');
});

test('changes of eight workers, each in its order', async (t) => {
  const dir = folder(t);
  const db = createKevyNitroAt(dir);
  const last = new Map();
  let heard = 0;
  db.onChange(({ cause, key, isOther, lost }) => {
    const [worker, number] = key.split(':');
    assert.equal(`${cause} ${isOther} ${lost}`, 'set true 0');
    assert.equal(Number(number), (last.get(worker) ?? -1) + 1);
    last.set(worker, Number(number));
    heard++;
  });
  const source = `const { workerData } = require('node:worker_threads');
    const db = require(${JSON.stringify(entry)}).createKevyNitroAt(workerData.dir);
    for (let k = 0; k < 2000; k++) db.setString(workerData.i + ':' + k, '');`;
  for (let i = 0; i < 8; i++) new Worker(source, { eval: true, workerData: { dir, i } });
  await until(() => heard === 16_000);
  db.dispose();
});

test('a worker ended while changes stream to it', async (t) => {
  const dir = folder(t);
  const db = createKevyNitroAt(dir);
  for (let round = 0; round < 30; round++) {
    const worker = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads');
      const db = require(${JSON.stringify(entry)}).createKevyNitroAt(workerData);
      db.ref().onChange(() => parentPort.postMessage('told'));`,
      { eval: true, workerData: dir },
    );
    let isTold = false;
    worker.on('message', () => (isTold = true));
    await until(() => {
      for (let i = 0; i < 100; i++) db.setString('k', String(i));
      return isTold;
    });
    const gone = worker.terminate();
    for (let i = 0; i < 1000 * (round % 3); i++) db.setString('k', String(i));
    await gone;
  }
  db.dispose();
});

test('collected only when nobody listens any more', async () => {
  let db = createKevyNitro();
  const ref = new WeakRef(db);
  let off = db.onChange(() => {});
  let offPush = db.subscribePush('c', () => {});
  db = undefined;
  await gc();
  assert.ok(ref.deref());
  offPush();
  offPush = undefined;
  await gc();
  assert.ok(ref.deref(), 'the change listener is left');
  off();
  off = undefined;
  await untilCollected(() => ref.deref() === undefined);
});

test('a process ends with a listener, unless ref was called', async () => {
  const source = (ref) => `
    const db = kevy.createKevyNitro()${ref};
    let told = 0;
    db.onChange(({ key }) => console.log(key));
    db.onChange(() => { if (++told === 2) db.dispose(); });
    db.setString('k', 'v', 50);`;
  assert.deepEqual((({ code, out }) => ({ code, out }))(await child(source('.ref()'))), {
    code: 0,
    out: 'k\nk\n',
  });
  assert.equal((await child(source(''))).code, 0);
  const within = `const db = kevy.createKevyNitro().ref();
    db.onChange(() => process.exit(3));
    for (let i = 0; i < 1000; i++) db.setString(String(i), '');`;
  assert.equal((await child(within)).code, 3);
});
