/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The push lane: delivery, order, limits, stopping at any moment, exceptions,
 * collection, idleness, and what keeps a process alive.
 */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { createKevyNitro, createKevyNitroAt, unpackFrames } from '../dist/index.js';
import { child, folder, gc, sleep, text, throwsCode, until, untilCollected } from './help.mjs';

const threads = () => readdirSync('/proc/self/task');

/* Those that were not there before. One that was joined may be listed a moment longer. */
const newThreads = (before) => threads().filter((thread) => !before.includes(thread));

test('batches: order, counts, channels', async () => {
  const db = createKevyNitro();
  const got = [];
  db.subscribePushBatched('c', (packed, count, dropped) => {
    assert.ok(packed instanceof ArrayBuffer);
    assert.equal(dropped, 0);
    got.push(...unpackFrames(packed, count).map(text));
  });
  const sent = [];
  for (let i = 0; i < 5000; i++) {
    sent.push(String(i));
    assert.equal(db.publish('c', String(i)), 1);
    assert.equal(db.publish('other', 'x'), 0);
    if (i % 1000 === 0) await sleep(1);
  }
  await until(() => got.length === 5000);
  assert.deepEqual(got, sent);
  db.dispose();
});

test('one message at a time', async () => {
  const db = createKevyNitro();
  const got = [];
  db.subscribePush('c', (payload, dropped) => {
    assert.ok(payload instanceof ArrayBuffer);
    got.push(text(payload) + dropped);
  });
  db.publish('c', 'a');
  db.publish('c', new ArrayBuffer(0));
  db.publish('c', 'b');
  await until(() => got.length === 3);
  assert.deepEqual(got, ['a0', '0', 'b0']);
  db.stopPush();
});

test('several listeners share one thread', async () => {
  const db = createKevyNitro();
  const before = threads();
  const got = { a: [], b: [], a2: [], one: [] };
  const into = (name) => (packed, count) =>
    got[name].push(...unpackFrames(packed, count).map(text));
  db.subscribePushBatched('a', into('a'));
  const remove = db.subscribePushBatched('b', into('b'));
  db.subscribePushBatched('a', into('a2'));
  db.subscribePush('a', (payload) => got.one.push(text(payload)));
  assert.equal(newThreads(before).length, 1);
  assert.equal(db.publish('a', '1'), 1);
  assert.equal(db.publish('b', '2'), 1);
  assert.equal(db.publish('a', '3'), 1);
  await until(() => Object.values(got).flat().length === 7);
  assert.deepEqual(got, { a: ['1', '3'], b: ['2'], a2: ['1', '3'], one: ['1', '3'] });
  remove();
  remove();
  assert.equal(db.publish('b', 'x'), 0);
  assert.equal(db.publish('a', '4'), 1);
  await until(() => got.a.length === 3);
  assert.equal(got.b.length, 1);
  db.stopPush();
  await until(() => newThreads(before).length === 0);
});

test('removing the last listener stops the lane; it can start again', async () => {
  const db = createKevyNitro();
  const before = threads();
  for (let i = 0; i < 200; i++) {
    let got = 0;
    const remove = db.subscribePush('c', () => got++);
    db.publish('c', 'x');
    if (i % 10 === 0) await until(() => got === 1);
    remove();
    assert.equal(db.publish('c', 'x'), 0);
  }
  await until(() => newThreads(before).length === 0);
});

test('no callback after stopPush, however much is under way', async () => {
  const db = createKevyNitro();
  let calls = 0;
  for (let i = 0; i < 1000; i++) {
    db.subscribePushBatched('c', () => calls++);
    db.subscribePush('c', () => calls++);
    for (let k = 0; k < 5; k++) db.publish('c', 'x');
    if (i % 3 === 0) await sleep(0);
    db.stopPush();
    db.stopPush();
    const seen = calls;
    if (i % 5 === 0) {
      await sleep(0);
      assert.equal(calls, seen);
    }
  }
  const seen = calls;
  await sleep(20);
  assert.equal(calls, seen);
});

test('stopping, starting and disposing from inside a callback', async () => {
  const db = createKevyNitro();
  let calls = 0;
  const start = () =>
    db.subscribePush('c', () => {
      calls++;
      db.stopPush();
      if (calls < 50) {
        start();
        db.publish('c', 'x');
      }
    });
  start();
  db.publish('c', 'x');
  db.publish('c', 'not delivered');
  await until(() => calls === 50);
  let isDisposed = false;
  db.subscribePushBatched('c', () => {
    db.dispose();
    isDisposed = true;
  });
  db.publish('c', 'x');
  await until(() => isDisposed);
  throwsCode(() => db.getData('k'), 'KEVY_ECLOSED');
  assert.equal(calls, 50);
});

test('a throwing callback is an uncaught exception and takes nothing from others', async () => {
  const done = await child(`
    const db = kevy.createKevyNitro().ref();
    const seen = [];
    let batches = 0;
    let messages = 0;
    process.on('uncaughtException', (error) => seen.push(error.message));
    db.subscribePushBatched('c', (_, count) => {
      batches++;
      messages += count;
      throw new Error('batched');
    });
    db.subscribePush('c', (payload) => {
      seen.push(Buffer.from(payload).toString());
      throw new Error('single');
    });
    db.publish('c', '1');
    db.publish('c', '2');
    const timer = setInterval(() => {
      if (messages < 2 || seen.length < 4 + batches) return;
      clearInterval(timer);
      console.log(seen.sort().join());
      db.dispose();
    }, 5);
  `);
  assert.match(done.out, /^1,2,batched(,batched)?,single,single\n$/, done.err);
  const fatal = await child(`
    const db = kevy.createKevyNitro().ref();
    db.subscribePushBatched('c', () => { throw new Error('nobody listens'); });
    db.publish('c', '1');
  `);
  assert.notEqual(fatal.code, 0);
  assert.match(fatal.err, /nobody listens/);
});

test('a slow thread meets the queue policy and learns what was dropped', async () => {
  const db = createKevyNitro();
  db.setQueueLimits({ count: 100 });
  let received = 0;
  let dropped = 0;
  let last = -1;
  db.subscribePushBatched('c', (packed, count, lost) => {
    dropped += lost;
    for (const frame of unpackFrames(packed, count)) {
      const number = Number(text(frame));
      assert.ok(number > last);
      last = number;
      received++;
    }
  });
  for (let i = 0; i < 20000; i++) db.publish('c', String(i));
  await until(() => last === 19999);
  assert.equal(received + dropped, 20000);
  assert.ok(dropped > 19000, `${dropped} dropped`);
  db.dispose();
});

test('a flood with a slow handler leaves timers their turn', async () => {
  const db = createKevyNitro();
  let handled = 0;
  db.subscribePush('c', () => {
    const end = performance.now() + 1;
    while (performance.now() < end);
    handled++;
  });
  let turns = 0;
  let most = 0;
  let last = 0;
  const timer = setInterval(() => {
    turns++;
    most = Math.max(most, handled - last);
    last = handled;
    for (let i = 0; i < 2000; i++) db.publish('c', 'x');
  }, 16);
  await until(() => turns >= 60 && handled > 100);
  clearInterval(timer);
  db.stopPush();
  /* Each takes a millisecond or more: 16 until the timer is due, and what is begun by then. */
  assert.ok(most < 100, `a timer waited for ${most} messages`);
});

test('a removed listener gets no more of a batch that it was in the middle of', async () => {
  const db = createKevyNitro();
  let got = 0;
  let others = 0;
  const remove = db.subscribePush('c', () => {
    const end = performance.now() + 2;
    while (performance.now() < end);
    if (++got === 5) remove();
  });
  db.subscribePushBatched('d', (_, count) => (others += count));
  for (let i = 0; i < 100; i++) db.publish('c', 'x');
  await until(() => got === 5);
  for (let i = 0; i < 10; i++) db.publish('d', 'x');
  await until(() => others === 10);
  assert.equal(got, 5);
  db.dispose();
});

test('a live push keeps its store; without one the collector closes it', async (t) => {
  const dir = folder(t);
  const before = threads();
  const publisher = createKevyNitroAt(dir);
  let got = 0;
  (() => createKevyNitroAt(dir).subscribePushBatched('c', (_, count) => (got += count)))();
  for (let i = 0; i < 5; i++) {
    await gc();
    assert.equal(publisher.publish('c', 'x'), 1);
  }
  await until(() => got === 5);
  (() => {
    const db = createKevyNitroAt(dir);
    db.subscribe('d');
    db.subscribePush('d', () => {});
    db.stopPush();
  })();
  await untilCollected(() => publisher.publish('d', 'x') === 0);
  assert.ok(newThreads(before).length >= 1);
});

test('idle: the poller is never woken', async () => {
  const db = createKevyNitro();
  const before = threads();
  db.subscribePushBatched('c', () => {});
  const [poller] = newThreads(before);
  const switches = () =>
    Number(
      /^voluntary_ctxt_switches:\s+(\d+)/m.exec(
        readFileSync(`/proc/self/task/${poller}/status`, 'utf8'),
      )[1],
    );
  /* On a busy machine the new thread may come late to where it sleeps. */
  for (let tries = 1, woken = 1; woken > 0; tries++) {
    const start = switches();
    await sleep(1000);
    woken = switches() - start;
    assert.ok(woken === 0 || tries < 30, `woken ${woken} times in a second`);
  }
  db.stopPush();
});

test('a push keeps the process alive only when asked to', async () => {
  const script = (extra) => `
    const db = kevy.createKevyNitro();
    db.subscribePush('c', () => {});
    ${extra}
    process.on('exit', () => console.log('exit'));`;
  for (const extra of [
    '',
    'db.ref(); db.unref();',
    'db.ref(); db.stopPush();',
    'db.ref(); db.dispose();',
  ]) {
    const done = await child(script(extra));
    assert.deepEqual([done.code, done.out], [0, 'exit\n'], done.err);
  }
  const alive = child(script('db.ref(); console.log("up");'));
  await until(() => alive.output() !== '');
  await sleep(300);
  assert.equal(alive.output(), 'up\n');
  alive.process.kill('SIGKILL');
  await alive;
});

test('process.exit with messages queued, in and out of a handler', async () => {
  for (const where of ['subscribePush', 'subscribePushBatched']) {
    const done = await child(`
      const db = kevy.createKevyNitro().ref();
      db.${where}('c', () => process.exit(7));
      for (let i = 0; i < 10000; i++) db.publish('c', 'x');`);
    assert.deepEqual([done.code, done.signal], [7, null], done.err);
  }
  const done = await child(`
    const db = kevy.createKevyNitro();
    db.subscribePush('c', () => {});
    setTimeout(() => {
      for (let i = 0; i < 10000; i++) db.publish('c', 'x');
      process.exit(3);
    }, 10);`);
  assert.deepEqual([done.code, done.signal], [3, null], done.err);
});

test('bad arguments', () => {
  const db = createKevyNitro();
  for (const callback of [undefined, null, 5, {}]) {
    throwsCode(() => db.subscribePush('c', callback), 'KEVY_EMISUSE', TypeError);
    throwsCode(() => db.subscribePushBatched('c', callback), 'KEVY_EMISUSE', TypeError);
  }
  throwsCode(() => db.subscribePush(5, () => {}), 'KEVY_EMISUSE', TypeError);
  db.stopPush();
});

test('patterns: one at a time and batched, beside channels', async () => {
  const db = createKevyNitro();
  const got = [];
  db.psubscribePush('n?ws', (payload, channel, dropped) => {
    assert.ok(payload instanceof ArrayBuffer);
    got.push(['one', channel, text(payload), dropped]);
  });
  db.psubscribePushBatched('*', (packed, count, dropped) => {
    const parts = unpackFrames(packed, 2 * count).map(text);
    for (let i = 0; i < count; i++) got.push(['all', parts[2 * i], parts[2 * i + 1], dropped]);
  });
  db.subscribePush('news', (payload, dropped) => got.push(['name', text(payload), dropped]));
  db.subscribePush('n?ws', (payload) => got.push(['verbatim', text(payload)]));
  assert.equal(db.publish('news', '1'), 3);
  assert.equal(db.publish('n?ws', '2'), 3);
  assert.equal(db.publish('\ud800\0', ''), 1);
  await until(() => got.length === 7);
  assert.deepEqual(got.filter(([kind]) => kind === 'one'), [
    ['one', 'news', '1', 0],
    ['one', 'n?ws', '2', 0],
  ]);
  assert.deepEqual(got.filter(([kind]) => kind === 'all'), [
    ['all', 'news', '1', 0],
    ['all', 'n?ws', '2', 0],
    ['all', '\ufffd\ufffd\ufffd\0', '', 0],
  ]);
  assert.deepEqual(got.filter(([kind]) => kind === 'name'), [['name', '1', 0]]);
  assert.deepEqual(got.filter(([kind]) => kind === 'verbatim'), [['verbatim', '2']]);
  db.dispose();
});

test('a pattern and its removal, the channel exact', async () => {
  const db = createKevyNitro();
  const got = [];
  const off = db.psubscribePush('*', (_, channel) => got.push(channel));
  const names = ['\0', '\udfff', 'é', 'x'.repeat(70_000)];
  for (const name of names) db.publish(name, 'm');
  await until(() => got.length === names.length);
  assert.deepEqual(got, names);
  off();
  off();
  assert.equal(db.publish('a', 'm'), 0);
  db.psubscribePush('a*', (_, channel) => got.push(channel));
  assert.equal(db.publish('ab', 'm'), 1);
  await until(() => got.at(-1) === 'ab');
  db.dispose();
});

test('a listener gets what was published after it was added, and nothing else', async () => {
  const db = createKevyNitro();
  const got = { a: [], b: [], c: [], p: [], end: [] };
  const into = (name) => (payload) => got[name].push(text(payload));
  db.subscribePush('x', into('a'));
  db.publish('x', '1');
  const offB = db.subscribePush('x', into('b'));
  db.publish('x', '2');
  offB();
  db.psubscribePush('x', into('p'));
  db.publish('x', '3');
  db.subscribePushBatched('x', (packed, count) =>
    got.c.push(...unpackFrames(packed, count).map(text)),
  );
  db.publish('x', '4');
  db.subscribePush('end', into('end'));
  db.publish('end', '');
  await until(() => Object.values(got).flat().length === 8);
  assert.deepEqual(got, { a: ['1', '2', '3', '4'], b: [], c: ['4'], p: ['3', '4'], end: [''] });
  db.dispose();
});
