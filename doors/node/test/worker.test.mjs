/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Worker threads: the addon loaded many times, stores shared, threads ended at
 * any moment.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createKevyNitroAt, unpackFrames } from '../dist/index.js';
import { child, entry, folder, sleep, text, until } from './help.mjs';

const start = (source, workerData) =>
  new Worker(
    `const kevy = require(${JSON.stringify(entry)});
              const { parentPort, workerData } = require('node:worker_threads');
              ${source}`,
    { eval: true, workerData },
  );

const message = (worker) =>
  new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));

const ended = (worker) => new Promise((resolve) => worker.once('exit', resolve));

test('eight workers and the main thread share a store, ended in any order', async (t) => {
  const dir = folder(t);
  const main = createKevyNitroAt(dir);
  main.setString('main', 'here');
  const workers = Array.from({ length: 8 }, (_, i) =>
    start(
      `const db = kevy.createKevyNitroAt(workerData.dir);
           for (let k = 0; k < 500; k++) db.call('INCR', 'n');
           db.setString('w' + workerData.i, db.getString('main'));
           db.subscribePush('c', () => {});
           parentPort.postMessage('done');
           setInterval(() => db.getData('n'), 1);`,
      { dir, i },
    ),
  );
  await Promise.all(workers.map(message));
  assert.equal(main.getString('n'), '4000');
  for (let i = 0; i < 8; i++) assert.equal(main.getString('w' + i), 'here');
  assert.equal(main.publish('c', 'x'), 8);
  const order = [3, 0, 7, 1, 6, 2, 5, 4];
  for (const [gone, i] of order.entries()) {
    await workers[i].terminate();
    await until(() => main.publish('c', 'x') === 7 - gone);
  }
  main.dispose();
  const again = createKevyNitroAt(dir);
  assert.equal(again.getString('n'), '4000');
  assert.ok(again.openReport().replayedCommands > 0, 'the last close closed the store');
});

test('messages cross from a worker to the main thread', async (t) => {
  const dir = folder(t);
  const db = createKevyNitroAt(dir);
  const got = [];
  db.subscribePushBatched('c', (packed, count) =>
    got.push(...unpackFrames(packed, count).map(text)),
  );
  const worker = start(
    `const db = kevy.createKevyNitroAt(workerData);
    for (let i = 0; i < 20000; i++) db.publish('c', String(i));
    parentPort.postMessage('done');`,
    dir,
  );
  await message(worker);
  await until(() => got.length === 20000);
  assert.ok(got.every((part, i) => part === String(i)));
  await worker.terminate();
  db.dispose();
});

test('a worker ended while its poller delivers, many times', async (t) => {
  const dir = folder(t);
  const db = createKevyNitroAt(dir);
  for (let round = 0; round < 60; round++) {
    const worker = start(
      `const db = kevy.createKevyNitroAt(workerData);
      let seen = 0;
      db.ref().subscribePushBatched('c', (packed, count) => { seen += count; });
      db.subscribePush('c', () => { seen++; });
      parentPort.postMessage('up');`,
      dir,
    );
    await message(worker);
    const end = performance.now() + (round % 7);
    do for (let i = 0; i < 100; i++) db.publish('c', 'payload');
    while (performance.now() < end);
    const gone = worker.terminate();
    for (let i = 0; i < 2000; i++) db.publish('c', 'payload');
    await gone;
  }
  assert.equal(db.publish('c', 'x'), 0);
});

test('process.exit and a throw inside a worker’s handler', async (t) => {
  const dir = folder(t);
  const db = createKevyNitroAt(dir);
  for (const [body, code] of [
    ['process.exit(5)', 5],
    ['throw new Error("x")', 1],
  ]) {
    for (const lane of ['subscribePush', 'subscribePushBatched']) {
      const worker = start(
        `const db = kevy.createKevyNitroAt(workerData);
        db.ref().${lane}('c', () => { ${body} });
        parentPort.postMessage('up');`,
        dir,
      );
      worker.on('error', () => {});
      await message(worker);
      const exit = ended(worker);
      for (let i = 0; i < 1000; i++) db.publish('c', 'x');
      assert.equal(await exit, code);
    }
  }
  assert.equal(db.publish('c', 'x'), 0);
});

test('a worker that simply ends leaves nothing open', async (t) => {
  const dir = folder(t);
  const worker = start(
    `const db = kevy.createKevyNitroAt(workerData);
    db.subscribePush('c', () => {});
    db.setString('k', 'v');`,
    dir,
  );
  assert.equal(await ended(worker), 0);
  const done = await child(
    'console.log(kevy.createKevyNitroAt(process.argv[1]).getString("k"))',
    dir,
  );
  assert.equal(done.out, 'v\n', done.err);
  await sleep(1);
});
