/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Compiled, never run: what must be accepted, and with @ts-expect-error what
 * must not. package.test.mjs compiles it as a user's project would.
 */
import {
  Change,
  ChangeCause,
  KevyNitro,
  Reply,
  createKevyBus,
  createKevyNitro,
  createKevyNitroAt,
  packArgv,
  unpackFrames,
} from 'kevy-node';

const db: KevyNitro = createKevyNitro();
const at: KevyNitro = createKevyNitroAt(new URL('file:///tmp/x'), { fsync: 'always', shards: 1 });
const value: ArrayBuffer | undefined = db.getData('k');
const size: number | undefined = db.getInto('k', new Uint8Array(8), 1);
const text: string | undefined = db.getString(new Uint8Array(1));
const view: Uint8Array | undefined = db.getView('k');
db.setData('k', new ArrayBuffer(1), 5);
db.setData('k', new DataView(new ArrayBuffer(1)));
db.setMany(new Map([['a', 'x']]));
db.setMany([['a', new Uint8Array(1)]]);
const reply: ArrayBuffer = db.cmd(packArgv(['PING', new Uint8Array(1)]));
const answer: Reply = db.call('INCRBY', 'n', 5);
const off: () => void = db.subscribePushBatched('c', (packed: ArrayBuffer, count: number) => {
  const frames: Uint8Array[] = unpackFrames(packed, count);
  void frames;
});
const offAll: () => void = db.psubscribePush('c*', (payload: ArrayBuffer, channel: string) => {
  void [payload, channel];
});
const offChange: () => void = db.onChange((change: Change) => {
  const cause: ChangeCause = change.cause;
  const key: string | undefined = change.key;
  void [cause, key];
});
const values: (ArrayBuffer | undefined)[] = db.getMany(['a', new Uint8Array(1)]);
const isOpen: boolean = at.openAt('/tmp/y');
const receivers: number = createKevyBus(db).publish('c', 'x');
const json: { a: number } | undefined = db.getJSON<{ a: number }>('j');
void [offAll, offChange, values];
void [value, size, text, view, reply, answer, off, isOpen, receivers, json];

// @ts-expect-error a value is bytes
db.setData('k', 'text');
// @ts-expect-error null is no value
db.setData('k', null);
// @ts-expect-error a path is no options
createKevyNitro('/tmp/x');
// @ts-expect-error a number is no key
db.getData(5);
// @ts-expect-error no such policy
createKevyNitroAt('/tmp/x', { fsync: 'sometimes' });
// @ts-expect-error the publisher is never made to wait
db.setQueueLimits({ policy: 'block' });
