/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ns per get and set in Node; README.md says of what. A get copies into a
 * buffer of the caller's; a plain Map, the measure, hands out a reference.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKevyNitro, createKevyNitroAt } from '../../doors/node/dist/index.js';

const KEYS = 10000;
const OPERATIONS = 200000;
const ROUNDS = 5;

const keys = Array.from({ length: KEYS }, (_, i) => `key:${String(i).padStart(12, '0')}`);
const order = new Uint32Array(OPERATIONS);
for (let i = 0, x = 1; i < OPERATIONS; i++) {
  x = (Math.imul(x, 1103515245) + 12345) & 0x7fffffff;
  order[i] = (x >> 8) % KEYS;
}
const value = new ArrayBuffer(100);
const room = new ArrayBuffer(128);

function median(operation) {
  const rounds = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const start = process.hrtime.bigint();
    for (let i = 0; i < OPERATIONS; i++) operation(keys[order[i]]);
    rounds.push(Number(process.hrtime.bigint() - start) / OPERATIONS);
  }
  return rounds.slice(1).sort((a, b) => a - b)[ROUNDS >> 1];
}

function storeTime(db) {
  for (const key of keys) db.setData(key, value);
  const set = median((key) => db.setData(key, value));
  const get = median((key) => db.getInto(key, room));
  db.dispose();
  return { get, set };
}

function mapTime() {
  const map = new Map(keys.map((key) => [key, value]));
  let bytes = 0;
  const set = median((key) => map.set(key, value));
  const get = median((key) => (bytes += map.get(key).byteLength));
  if (bytes !== OPERATIONS * (ROUNDS + 1) * 100) throw new Error('the map lost something');
  return { get, set };
}

export function timing() {
  const dir = mkdtempSync(join(tmpdir(), 'kevy-timing-'));
  try {
    const memory = storeTime(createKevyNitro());
    const file = storeTime(createKevyNitroAt(dir));
    return { step: 'timing', language: 'Node', memory, file, map: mapTime() };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
