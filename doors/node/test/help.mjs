/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the tests share: folders that go away, forced collection, waiting,
 * child processes, and a check for exceptions with a code.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';
import vm from 'node:vm';

export const entry = fileURLToPath(new URL('../dist/index.js', import.meta.url));

v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc');

/* How long a test waits for what must come: only what hangs takes it, however slow the machine. */
const PATIENCE_MS = 120000;

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Collects garbage and lets finalizers run. */
export async function gc() {
  for (let i = 0; i < 3; i++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A folder that is removed with the test. */
export function folder(t) {
  const dir = mkdtempSync(join(tmpdir(), 'kevy-node-'));
  t.after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  return dir;
}

/** Resolves when `condition`, which may be async, holds. */
export async function until(condition) {
  const end = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    assert.ok(Date.now() < end, `waited ${PATIENCE_MS} ms for ${condition}`);
    await sleep(2);
  }
}

/** As `until`, for what the collector brings about. */
export const untilCollected = (condition) => until(() => gc().then(condition));

/** `run` throws a `Kind` whose code is `code`. */
export function throwsCode(run, code, Kind = Error) {
  assert.throws(run, (error) => {
    assert.equal(error.code, code, error.stack);
    assert.ok(error instanceof Kind, `${error.name} is no ${Kind.name}`);
    return true;
  });
}

export const bytes = (...values) => Uint8Array.from(values);
export const hex = (buffer) => buffer && Buffer.from(buffer).toString('hex');
export const text = (buffer) => buffer && Buffer.from(buffer).toString();

/** Runs a module given as source; resolves to { code, signal, out, err }. */
export function child(source, ...args) {
  const prelude = `import * as kevy from ${JSON.stringify(entry)};\n`;
  const node = spawn(process.execPath, ['--input-type=module', '-e', prelude + source, ...args], {
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  });
  let out = '';
  let err = '';
  node.stdout.on('data', (part) => (out += part));
  node.stderr.on('data', (part) => (err += part));
  const done = new Promise((resolve) =>
    node.on('close', (code, signal) => resolve({ code, signal, out, err })),
  );
  return Object.assign(done, { process: node, output: () => out });
}
