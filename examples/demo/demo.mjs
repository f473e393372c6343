/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The demo, in five steps: load, kill, prove, read from Kotlin, compare. Each
 * proof that fails ends it with exit code 1 and says what was not as it must.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createKevyNitroAt, packArgv, parseReply } from '../../doors/node/dist/index.js';
import { InputError, inputRead, recordsParse, ttlOf } from './records.mjs';
import { fact, heading, megabytes, number, progress, progressEnd, table } from './terminal.mjs';
import { timing } from './timing.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const work = join(here, '../../build/demo');
const store = join(work, 'store');
const recordsFile = join(work, 'records');
const SMOKE_RECORDS = 3000;

class ProofError extends Error {}

function prove(holds, what) {
  if (!holds) throw new ProofError(what);
}

const isSmoke = process.argv.includes('--smoke');
let proofs = 0;

/** A proof of the whole run is complete; the smoke run counts them. */
function proven(text) {
  proofs++;
  fact(text);
}

/* ---- 1 and 2: load, and kill the loader ---- */

/** Starts the writer at record `first`; kills it after `killAt` acknowledgements. */
function write(records, first, label, killAt = Infinity) {
  const args = [join(here, 'writer.mjs'), store, recordsFile, String(first)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] });
  const show = progress(label, records.length);
  let acknowledged = first;
  let out = '';
  let rest = Buffer.alloc(0);
  child.stdout.on('data', (part) => (out += part));
  child.stdio[3].on('data', (part) => {
    const bytes = Buffer.concat([rest, part]);
    const whole = bytes.length - (bytes.length % 4);
    if (whole > 0) acknowledged = bytes.readUInt32LE(whole - 4) + 1;
    rest = bytes.subarray(whole);
    show(acknowledged);
    if (acknowledged >= killAt) child.kill('SIGKILL');
  });
  return new Promise((resolve) =>
    child.on('close', (code, signal) => {
      progressEnd();
      resolve({ acknowledged, code, signal, done: out === '' ? null : JSON.parse(out) });
    }),
  );
}

/** What the store must hold after the first `count` records: name -> number. */
function lastOfEach(records, count) {
  const last = new Map();
  for (let i = 0; i < count; i++) last.set(records[i].name, i);
  return last;
}

/* A write that was under way when the kill came may be there or not. */
function proveAcknowledged(records, acknowledged) {
  const db = createKevyNitroAt(store);
  const report = db.openReport();
  const next = records[acknowledged];
  let timed = 0;
  for (const [name, i] of lastOfEach(records, acknowledged)) {
    const got = db.getView(name);
    prove(got !== undefined, `${name} was acknowledged and is not there`);
    const isNext = next?.name === name && Buffer.compare(got, next.value) === 0;
    prove(
      isNext || Buffer.compare(got, records[i].value) === 0,
      `${name} has another value than was written`,
    );
    if (ttlOf(name) > 0) {
      prove(db.call('PTTL', name) > 0, `${name} has lost its time to live`);
      timed++;
    }
  }
  const size = db.call('DBSIZE');
  db.dispose();
  return { size, timed, report };
}

/* ---- 3: the digest ---- */

function digest(pairs) {
  const hash = createHash('sha256');
  const length = Buffer.alloc(4);
  let bytes = 0;
  pairs.sort((a, b) => Buffer.compare(a[0], b[0]));
  for (const part of pairs.flat()) {
    length.writeUInt32LE(part.length);
    hash.update(length).update(part);
    bytes += part.length;
  }
  return { records: pairs.length, bytes, sha256: hash.digest('hex') };
}

function digestOfInput(records) {
  const last = lastOfEach(records, records.length);
  return digest([...last].map(([name, i]) => [Buffer.from(name), records[i].value]));
}

function digestOfStore() {
  const db = createKevyNitroAt(store);
  const keys = parseReply(db.cmd(packArgv(['KEYS', '*'])), true);
  const result = digest(keys.map((key) => [Buffer.from(key), Buffer.from(db.getView(key))]));
  db.dispose();
  return result;
}

/* ---- 4: Kotlin ---- */

function kotlin() {
  const done = spawnSync(join(here, 'kotlin/run'), [store], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  prove(
    done.status === 0,
    `the Kotlin half ended with code ${done.status}\n${done.stderr ?? done.error}`,
  );
  return done.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function answerShow({ question, count, rows }) {
  fact(`${question}${count === undefined ? '' : `: ${number(count)}, among them`}`);
  if (rows.every((row) => row.length === 1)) fact(`  ${rows.flat().join(', ')}`);
  else for (const [name, size] of rows) fact(`  ${name.padEnd(40)} ${size.padStart(12)}`);
}

/* ---- 5: the table ---- */

function timingInC() {
  const dir = join(work, 'timing-store');
  rmSync(dir, { recursive: true, force: true });
  const done = spawnSync(join(work, 'timing'), [dir], { encoding: 'utf8' });
  rmSync(dir, { recursive: true, force: true });
  prove(done.status === 0, `the timings in C failed\n${done.stderr ?? done.error}`);
  return JSON.parse(done.stdout);
}

/** A row: the store in memory and in a file, the language's map, how the two compare. */
function timingRow({ language, memory, file, map }, mapName) {
  const ns = (value) => value.toFixed(0);
  const store = [memory.get, memory.set, file.get, file.set].map(ns);
  if (map === undefined) return [language, ...store, '–', '–', '–', '–', '–'];
  const ratios = [memory.get / map.get, memory.set / map.set].map(
    (times) => `${times.toFixed(1)} x`,
  );
  return [language, ...store, mapName, ns(map.get), ns(map.set), ...ratios];
}

function tableShow(load, expected, timings) {
  heading('The run in figures');
  const speed = (load.records / load.ms) * 1000;
  table([
    ['records', 'bytes', 'messages *', 'received *', 'batches *', 'writes/s *'],
    [...[expected.records, expected.bytes, load.receivers, load.received, load.batches, speed]].map(
      number,
    ),
  ]);
  fact('* of the load after the kill');
  console.log();
  table([
    [
      ...['ns', 'get', 'set', 'get, file', 'set, file'],
      ...['beside', 'get', 'set', 'get takes', 'set takes'],
    ],
    timingRow(timings.c),
    timingRow(timings.node, 'JS Map'),
    timingRow(timings.kotlin, 'Java HashMap'),
  ]);
  fact('10,000 keys of 16 bytes, values of 100. A map hands out references; kevy copies, and in');
  fact('a file each set has left the process when it returns.');
}

/* ---- all of it ---- */

function inputLoad() {
  const { source, data } = inputRead(process.env.INPUT);
  let records;
  try {
    records = recordsParse(data);
  } catch (error) {
    if (error instanceof InputError) error.message = `${source}: ${error.message}`;
    throw error;
  }
  if (isSmoke) records = records.slice(0, SMOKE_RECORDS);
  rmSync(store, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  writeFileSync(
    recordsFile,
    Buffer.concat(records.flatMap(({ value }) => [value, Buffer.from('\n')])),
  );
  fact(`${number(records.length)} records, ${megabytes(data.length)}, from ${source}`);
  return records;
}

async function main() {
  heading('1  Load: one key per package, from Node into a durable store');
  const records = inputLoad();

  heading('2  Kill: SIGKILL in the middle of it');
  const killAt = Math.ceil(records.length * (0.4 + 0.2 * Math.random()));
  const first = await write(records, 0, 'loading', killAt);
  prove(
    first.signal === 'SIGKILL' || first.acknowledged === records.length,
    'the writer ended by itself',
  );
  const fate = first.signal ? 'killed' : 'finished before it could be killed,';
  fact(`${fate} after ${number(first.acknowledged)} acknowledged writes`);
  const proof = proveAcknowledged(records, first.acknowledged);
  proven(
    `reopened in ${number(proof.report.elapsedMs)} ms: all of them are there, byte for byte, ` +
      `${number(proof.timed)} with their time to live`,
  );

  heading('3  Finish the load');
  const second = await write(records, first.acknowledged, 'loading');
  prove(
    second.code === 0 && second.done !== null,
    `the second writer ended with code ${second.code}`,
  );
  const load = second.done;
  prove(load.received === load.receivers && load.dropped === 0, 'the subscriber missed messages');
  const expected = digestOfInput(records);
  const stored = digestOfStore();
  prove(
    stored.sha256 === expected.sha256,
    `the store holds something else than the input: ${JSON.stringify({ expected, stored })}`,
  );
  proven(
    `${number(load.received)} changes reached the subscriber in ${number(load.batches)} batches`,
  );
  const short = `${stored.sha256.slice(0, 16)}…`;
  proven(`${number(stored.records)} keys, ${megabytes(stored.bytes)}, SHA-256 ${short}`);

  heading('4  Kotlin opens the same store');
  const said = kotlin();
  const read = said.find(({ step }) => step === 'digest');
  prove(
    read?.sha256 === expected.sha256 && read.records === expected.records,
    `Kotlin read something else: ${JSON.stringify(read)}`,
  );
  proven(`read back byte for byte in ${number(read.ms)} ms: the same SHA-256`);
  for (const line of said.find(({ step }) => step === 'verbs').lines) fact(line);
  said.filter(({ step }) => step === 'answer').forEach(answerShow);
  const after = digestOfStore();
  prove(after.sha256 === expected.sha256, 'Kotlin left something behind');
  proven('and the store is as it was before Kotlin came');

  const timings = {
    c: timingInC(),
    node: timing(),
    kotlin: said.find(({ step }) => step === 'timing'),
  };
  tableShow(load, expected, timings);
  rmSync(store, { recursive: true, force: true });
  rmSync(recordsFile, { force: true });
  console.log('\nEverything held.');
}

let failed = 0;
try {
  await main();
} catch (error) {
  failed = 1;
  if (!(error instanceof InputError) && !(error instanceof ProofError)) throw error;
  progressEnd();
  console.error(`demo: ${error.message}`);
  process.exitCode = error instanceof InputError ? 2 : 1;
}
if (isSmoke) console.log(`\n${proofs} passed, ${failed} failed, 0 skipped`);
