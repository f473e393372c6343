/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The child that loads records: writer.mjs STORE RECORDS FIRST. Sets each
 * record from number FIRST on, publishes its name, and after every write that
 * returned says so: the record's number, four bytes little-endian, on file
 * descriptor 3. It may be killed at any instruction. One that lives to the end
 * writes what it did as JSON to standard output.
 */
import { readFileSync, writeSync } from 'node:fs';
import { createKevyNitroAt, unpackFrames } from '../../doors/node/dist/index.js';
import { recordsParse, ttlOf } from './records.mjs';

const TURN = 500; /* records between two turns of the event loop */
const AHEAD = 10000; /* messages that the subscriber may be behind; its queue takes 65,536 */

const [dir, file, first] = process.argv.slice(2);
const records = recordsParse(readFileSync(file));
const db = createKevyNitroAt(dir);
const done = { records: 0, bytes: 0, receivers: 0, received: 0, batches: 0, dropped: 0, ms: 0 };

db.subscribePushBatched('packages', (packed, count, dropped) => {
  done.received += unpackFrames(packed, count).length;
  done.dropped += dropped;
  done.batches++;
});

const acknowledgement = Buffer.alloc(4);
const turn = () => new Promise((resolve) => setImmediate(resolve));
const start = performance.now();
for (let i = Number(first); i < records.length; i++) {
  const { name, value } = records[i];
  const ttl = ttlOf(name);
  if (ttl > 0) db.setData(name, value, ttl);
  else db.setData(name, value);
  acknowledgement.writeUInt32LE(i);
  writeSync(3, acknowledgement);
  done.receivers += db.publish('packages', name);
  done.records++;
  done.bytes += name.length + value.length;
  if (i % TURN === 0) {
    do await turn();
    while (done.receivers - done.received > AHEAD);
  }
}
done.ms = performance.now() - start;
while (done.received + done.dropped < done.receivers) await turn();
db.dispose();
writeSync(1, JSON.stringify(done));
