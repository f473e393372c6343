/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The package as its users meet it: ESM and CommonJS, types, the quickstart
 * that README quotes, an addon that is missing.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as esm from '../dist/index.js';
import { folder } from './help.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);
const run = (cwd, ...args) => spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });

/** A project that has kevy-node among its packages. */
function project(t) {
  const dir = folder(t);
  mkdirSync(join(dir, 'node_modules'));
  symlinkSync(resolve(root), join(dir, 'node_modules', 'kevy-node'));
  writeFileSync(join(dir, 'package.json'), '{}');
  return dir;
}

test('ESM and CommonJS give the same module', () => {
  const cjs = require(root);
  const names = [
    'KevyNitro',
    'KevyReplyError',
    'createKevyBus',
    'createKevyNitro',
    'createKevyNitroAt',
    'packArgv',
    'parseReply',
    'unpackFrames',
  ];
  assert.deepEqual(Object.keys(cjs).sort(), names);
  for (const name of names) assert.equal(esm[name], cjs[name]);
});

test('by name, from a project', (t) => {
  const dir = project(t);
  writeFileSync(
    join(dir, 'a.mjs'),
    `import { createKevyNitro } from 'kevy-node';
    console.log(createKevyNitro().call('PING'));`,
  );
  writeFileSync(
    join(dir, 'b.cjs'),
    `console.log(require('kevy-node').createKevyNitro().call('PING'));`,
  );
  assert.equal(run(dir, 'a.mjs').stdout, 'PONG\n');
  assert.equal(run(dir, 'b.cjs').stdout, 'PONG\n');
});

test('the quickstart runs', (t) => {
  const dir = project(t);
  cpSync(join(root, '../../examples/quickstart.mjs'), join(dir, 'quickstart.mjs'));
  const first = run(dir, 'quickstart.mjs');
  assert.equal(first.stderr, '');
  assert.match(first.stdout, /^hello\n1 visits\nnews: .*\n$/);
  assert.match(run(dir, 'quickstart.mjs').stdout, /^hello\n2 visits\n/);
});

test('the types say what the package does', (t) => {
  const dir = project(t);
  cpSync(join(root, 'test', 'types.ts'), join(dir, 'types.ts'));
  const tsc = require.resolve('typescript/bin/tsc');
  for (const [module, resolution] of [
    ['CommonJS', 'Node10'],
    ['Node16', 'Node16'],
    ['ESNext', 'Bundler'],
  ]) {
    const done = run(
      dir,
      tsc,
      '--noEmit',
      '--strict',
      '--target',
      'ES2022',
      '--module',
      module,
      '--moduleResolution',
      resolution,
      '--lib',
      'ES2022,DOM',
      'types.ts',
    );
    assert.equal(done.stdout + done.stderr, '', resolution);
  }
});

test('two copies of the package in one process share a store, or are told', (t) => {
  const dir = folder(t);
  const copy = join(dir, 'doors', 'node');
  for (const part of ['package.json', 'dist', 'build/kevy_node.node']) {
    cpSync(join(root, part), join(copy, part), { recursive: true });
  }
  const script = `
    const [, here, there, dir] = process.argv;
    const a = require(here).createKevyNitroAt(dir);
    a.setString('k', 'shared');
    try { console.log(require(there).createKevyNitroAt(dir).getString('k')); }
    catch (error) { console.log(error.code); }
    console.log(a.getString('k'));`;
  const done = run(dir, '-e', script, resolve(root), copy, join(dir, 'store'));
  assert.match(done.stdout, /^(shared|KEVY_EINUSE|KEVY_EVERSION)\nshared\n$/, done.stderr);
});

test('an addon that is missing is named, with what to do', (t) => {
  const dir = folder(t);
  cpSync(join(root, 'dist'), join(dir, 'dist'), { recursive: true });
  const done = run(dir, '-e', 'require("./dist/index.js")');
  assert.match(done.stderr, /kevy-node: the addon cannot be loaded; run "npm install"/);
});

test(
  'the addon exports nothing but its registration',
  { skip: process.platform !== 'linux' && 'needs the nm of Linux' },
  () => {
    const done = spawnSync('nm', ['-D', '--defined-only', join(root, 'build/kevy_node.node')], {
      encoding: 'utf8',
    });
    const names = done.stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[2]);
    assert.deepEqual(
      names.filter((name) => !name.startsWith('node_api_module_get_api_version')),
      ['napi_register_module_v1'],
    );
  },
);

test('sources are what the tree promises', () => {
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
  assert.ok(!lock.includes('http'), 'the lock file names no host');
  for (const name of readdirSync(join(root, 'ts'))) {
    assert.match(
      readFileSync(join(root, 'ts', name), 'utf8'),
      /^\/\* SPDX-License-Identifier: MIT OR Apache-2.0 \*\/\n\/\*\n/,
    );
  }
});
