/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Opening, closing, reopening: paths good and bad, sharing and locking,
 * shutdown, dispose, openAt, kill.
 */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as kevy from '../dist/index.js';
import { bytes, child, folder, gc, hex, throwsCode, until, untilCollected } from './help.mjs';

const { KevyNitro, createKevyNitro, createKevyNitroAt } = kevy;

test('in memory: nothing is shared, nothing reported', () => {
  const a = createKevyNitro();
  const b = createKevyNitro();
  a.setString('k', 'a');
  assert.equal(b.getString('k'), undefined);
  assert.equal(a.abi(), 1);
  assert.match(a.version(), /^\d+\.\d+\.\d+$/);
  assert.deepEqual(a.openReport(), {
    replayedCommands: 0,
    replayedBytes: 0,
    elapsedMs: 0,
    droppedBytes: 0,
    corrupt: false,
    quarantineCount: 0,
  });
  assert.ok(a instanceof KevyNitro);
});

test('a directory is made with its parents, and what was set is there again', (t) => {
  const dir = join(folder(t), 'a', 'é 中', 'store');
  let db = createKevyNitroAt(dir);
  db.setString('k', 'v');
  db.setData('e', new ArrayBuffer(0));
  db.setString('ttl', 'x', 3600000);
  db.setData('big', new Uint8Array(3000000).fill(5));
  db.setMany([
    ['m1', '1'],
    ['m2', '2'],
  ]);
  db.call('INCR', 'n');
  db.setString('gone', 'x');
  db.call('DEL', 'gone');
  db.dispose();
  for (let round = 0; round < 2; round++) {
    db = createKevyNitroAt(dir);
    assert.equal(db.getString('k'), 'v');
    assert.equal(db.getData('e').byteLength, 0);
    assert.ok(db.call('PTTL', 'ttl') > 3000000);
    assert.equal(Buffer.compare(db.getView('big'), Buffer.alloc(3000000, 5)), 0);
    assert.deepEqual(db.getMany(['m1', 'm2', 'gone']).map(hex), ['31', '32', undefined]);
    assert.equal(db.getString('n'), '1');
    const report = db.openReport();
    assert.ok(report.replayedCommands > 0 && report.replayedBytes > 3000000);
    assert.equal(report.droppedBytes, 0);
    assert.equal(report.corrupt, false);
    db.dispose();
  }
});

test('file:// URLs, as text and as URL', (t) => {
  const dir = join(folder(t), 'with space ü');
  const url = pathToFileURL(dir);
  createKevyNitroAt(url.href).setString('k', 'v');
  assert.ok(existsSync(dir));
  assert.equal(createKevyNitroAt(url).getString('k'), 'v');
  assert.equal(createKevyNitroAt(dir).getString('k'), 'v');
  throwsCode(() => createKevyNitroAt('file://elsewhere/x'), 'KEVY_EPATH');
  throwsCode(() => createKevyNitroAt(new URL('http://localhost/x')), 'KEVY_EPATH');
});

test('a path that cannot be a store says why, and nothing is made', (t) => {
  const root = folder(t);
  writeFileSync(join(root, 'file'), 'x');
  throwsCode(() => createKevyNitroAt(''), 'KEVY_EPATH');
  throwsCode(() => createKevyNitroAt('a\0b'), 'KEVY_EPATH');
  for (const bad of [
    join(root, 'file'),
    join(root, 'file', 'below'),
    join(root, 'x'.repeat(300)),
  ]) {
    assert.throws(
      () => createKevyNitroAt(bad),
      (error) => {
        assert.match(error.code, /^KEVY_E(PATH|IO|ACCESS)$/);
        assert.equal(typeof error.errno, 'number');
        assert.ok(error.message.length > 10, error.message);
        return true;
      },
    );
  }
  for (const bad of [null, undefined, 5, {}, Symbol('s')]) {
    throwsCode(() => createKevyNitroAt(bad), 'KEVY_EMISUSE', TypeError);
  }
  assert.deepEqual(readdirSync(root), ['file']);
});

test('no permission', async (t) => {
  const root = folder(t);
  chmodSync(root, 0o755);
  mkdirSync(join(root, 'closed'), { mode: 0o700 });
  const done = await child(
    `if (process.getuid() === 0) { process.setgid(65534); process.setuid(65534); }
     try { kevy.createKevyNitroAt(process.argv[1]); } catch (e) { console.log(e.code, e.errno); }`,
    join(process.getuid() === 0 ? join(root, 'closed') : '/', 'store'),
  );
  assert.match(done.out, /^KEVY_EACCESS 13\n$/, done.err);
});

test('open options', (t) => {
  const dir = folder(t);
  const options = {
    fsync: 'always',
    shards: 4,
    rewritePct: 50,
    rewriteMinSize: 1,
    rewriteBytes: 1,
    rewriteIntervalSecs: 1,
  };
  const db = createKevyNitroAt(dir, options);
  db.setString('k', 'v');
  db.sync();
  db.dispose();
  assert.equal(createKevyNitroAt(dir, { fsync: 'no' }).getString('k'), 'v');
  throwsCode(() => createKevyNitroAt(dir, { fsync: 'sometimes' }), 'KEVY_ERANGE', RangeError);
  throwsCode(() => createKevyNitroAt(dir, { shards: -1 }), 'KEVY_ERANGE', RangeError);
  throwsCode(() => createKevyNitroAt(dir, { shards: NaN }), 'KEVY_ERANGE', RangeError);
  throwsCode(() => createKevyNitroAt(dir, { shards: '4' }), 'KEVY_EMISUSE', TypeError);
});

test('two opens in one process share the store, another process is kept out', async (t) => {
  const dir = folder(t);
  const a = createKevyNitroAt(dir);
  const b = createKevyNitroAt(join(dir, '.'));
  a.setString('k', 'a');
  assert.equal(b.getString('k'), 'a');
  const attempt = `try { console.log(kevy.createKevyNitroAt(process.argv[1]).getString('k')); }
                   catch (e) { console.log(e.code, e.path === '' ? '' : 'named'); }`;
  assert.match((await child(attempt, dir)).out, /^KEVY_EINUSE/);
  a.dispose();
  assert.equal(b.getString('k'), 'a');
  assert.match((await child(attempt, dir)).out, /^KEVY_EINUSE/);
  b.dispose();
  assert.equal((await child(attempt, dir)).out, 'a\n');
});

test('after shutdown writes throw and reads go on', (t) => {
  const dir = folder(t);
  const db = createKevyNitroAt(dir);
  db.setString('k', 'v');
  db.shutdown();
  db.shutdown();
  throwsCode(() => db.setString('k', 'new'), 'KEVY_ECLOSED');
  throwsCode(() => db.setData('k', bytes(1), 5), 'KEVY_ECLOSED');
  throwsCode(() => db.setMany([['k', 'new']]), 'KEVY_ECLOSED');
  assert.throws(() => db.call('SET', 'k', 'new'), /shut down/);
  assert.equal(db.getString('k'), 'v');
  const other = createKevyNitroAt(dir);
  other.setString('k', 'other');
  assert.equal(db.getString('k'), 'other');
});

test('after dispose everything throws KEVY_ECLOSED, dispose again does nothing', (t) => {
  const db = createKevyNitroAt(folder(t));
  db.subscribe('c');
  db.subscribePushBatched('c', () => {});
  db.dispose();
  db.dispose();
  const calls = [
    () => db.getData('k'),
    () => db.getString('k'),
    () => db.getView('k'),
    () => db.getInto('k', bytes(1)),
    () => db.setData('k', bytes(1)),
    () => db.setString('k', 'v'),
    () => db.setMany([['k', 'v']]),
    () => db.getMany(['k']),
    () => db.cmd(kevy.packArgv(['PING'])),
    () => db.call('PING'),
    () => db.publish('c', 'x'),
    () => db.subscribe('c'),
    () => db.psubscribe('c'),
    () => db.unsubscribe('c'),
    () => db.subNext(),
    () => db.subDropped(),
    () => db.subscribePush('c', () => {}),
    () => db.subscribePushBatched('c', () => {}),
    () => db.stopPush(),
    () => db.openReport(),
    () => db.sync(),
    () => db.shutdown(),
    () => db.getNumber('k'),
    () => db.setQueueLimits({ count: 1 }),
    () => db.ref(),
  ];
  for (const call of calls) throwsCode(call, 'KEVY_ECLOSED');
  assert.equal(db.abi(), 1);
});

test('openAt goes over, or throws and leaves everything as it was', (t) => {
  const dir = folder(t);
  const db = createKevyNitro();
  db.setString('k', 'memory');
  db.subscribe('c');
  db.subNext();
  throwsCode(() => db.openAt(''), 'KEVY_EPATH');
  throwsCode(() => db.openAt(null), 'KEVY_EMISUSE', TypeError);
  assert.equal(db.getString('k'), 'memory');
  assert.equal(db.publish('c', 'x'), 1);
  assert.equal(db.openAt(join(dir, 'a')), true);
  assert.equal(db.getString('k'), undefined);
  assert.equal(db.subNext(), undefined);
  db.setString('k', 'a');
  assert.equal(db.openAt(join(dir, 'a')), true);
  assert.equal(db.getString('k'), 'a');
  assert.equal(db.openAt(join(dir, 'b')), true);
  assert.equal(db.getString('k'), undefined);
  db.dispose();
  assert.equal(db.openAt(join(dir, 'a')), true);
  assert.equal(db.getString('k'), 'a');
});

test('a store that nobody holds is closed by the collector', async (t) => {
  const dir = folder(t);
  (() => createKevyNitroAt(dir).setString('k', 'v'))();
  const attempt = `try { console.log(kevy.createKevyNitroAt(process.argv[1]).getString('k')); }
                   catch (e) { console.log(e.code); }`;
  await untilCollected(async () => (await child(attempt, dir)).out === 'v\n');
});

test('many opens and closes', async (t) => {
  const dir = folder(t);
  for (let i = 0; i < 300; i++) {
    const db = i % 3 === 0 ? createKevyNitroAt(dir) : createKevyNitro();
    db.setString('k', String(i));
    if (i % 2 === 0) db.dispose();
    if (i % 50 === 0) await gc();
  }
  await gc();
  assert.equal(createKevyNitroAt(dir).getString('k'), '297');
});

test('a killed process loses no write that returned', async (t) => {
  const dir = folder(t);
  for (let round = 0; round < 5; round++) {
    const writer = child(
      `import { writeSync } from 'node:fs';
       const db = kevy.createKevyNitroAt(process.argv[1]);
       for (let i = 0; ; i++) {
         db.setString('k' + i, process.argv[2] + ':' + i);
         writeSync(1, i + '\\n');
       }`,
      dir,
      String(round),
    );
    await until(() => writer.output().length > 500 * (round + 1));
    writer.process.kill('SIGKILL');
    const done = await writer;
    assert.equal(done.signal, 'SIGKILL', done.err);
    const acknowledged = done.out.split('\n').slice(0, -1).length;
    const db = createKevyNitroAt(dir);
    for (let i = 0; i < acknowledged; i++) assert.equal(db.getString('k' + i), `${round}:${i}`);
    assert.equal(db.openReport().corrupt, false);
    db.dispose();
  }
});
