/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The demo's input: what is read how, and what is refused with which words.
 * `run --smoke` runs it.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { InputError, recordsParse, ttlOf } from './records.mjs';

const parse = (text) =>
  recordsParse(Buffer.from(text)).map(({ name, value }) => [name, value.toString()]);

test('Debian records, byte for byte', () => {
  const a = 'Package: a\nDescription: first\n second\n\tthird\n';
  const b = 'Version: 1\nPackage:  b \nX-Empty:\n';
  assert.deepEqual(parse(`${a}\n${b}`), [
    ['a', a],
    ['b', b],
  ]);
  assert.deepEqual(parse(`\n\n${a}\n\n\n${b.trimEnd()}`), [
    ['a', a],
    ['b', `${b.trimEnd()}\n`],
  ]);
  assert.deepEqual(parse('Package: ü\nX: é\n'), [['ü', 'Package: ü\nX: é\n']]);
});

test('JSON lines become Debian records', () => {
  const lines = [
    { Package: 'a', 'Installed-Size': 12, Depends: ['x', 'y (>= 1)'] },
    { name: 'b', text: 'one\n\ntwo', 'odd name': { k: null } },
  ];
  assert.deepEqual(parse(`\n${lines.map((line) => JSON.stringify(line)).join('\n')}\n`), [
    ['a', 'Package: a\nInstalled-Size: 12\nDepends: x, y (>= 1)\n'],
    ['b', 'Package: b\ntext: one\n .\n two\nodd-name: {"k":null}\n'],
  ]);
});

test('what JSON lines become is read back as the same records', () => {
  const line = JSON.stringify({ name: 'b', text: 'one\n\ntwo\r\n three', list: ['a', { b: 1 }] });
  const once = parse(line);
  assert.deepEqual(parse(once.map(([, value]) => value).join('\n')), once);
});

test('anything else is refused, saying where and why', () => {
  const cases = [
    ['', /neither Debian records/],
    ['hello world', /neither Debian records/],
    ['\x7fELF\0\0', /neither Debian records/],
    ['[1, 2]', /neither Debian records/],
    ['Version: 1\n\nPackage: a\n', /the record at byte 0 has no line "Package: name"/],
    ['Package: a\nnonsense\n', /line 2 of the record at byte 0 is no "Field: value"/],
    ['Package: a\n\nPackage:\n', /the record at byte 12 has no line/],
    ['{"name":"a"}\n{"name":', /line 2 is no JSON/],
    ['{"name":"a"}\n[1]', /line 2 is no JSON object/],
    ['{"title":"a"}', /line 1 has no member "Package" or "name"/],
    ['{"name":5}', /line 1 has no member/],
  ];
  for (const [text, message] of cases) {
    assert.throws(
      () => parse(text),
      (error) => {
        assert.ok(error instanceof InputError, error.stack);
        assert.match(error.message, message);
        return true;
      },
    );
  }
});

test('libraries live one to two hours, others for ever', () => {
  for (const name of ['libc6', 'lib', 'libä']) {
    assert.ok(ttlOf(name) >= 3600000 && ttlOf(name) < 7200000);
  }
  assert.equal(ttlOf('bash'), 0);
});

test('a bad INPUT ends the demo with code 2 and one line', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kevy-demo-'));
  const demo = fileURLToPath(new URL('demo.mjs', import.meta.url));
  const bad = join(dir, 'bad');
  writeFileSync(bad, 'hello world');
  try {
    for (const [input, words] of [
      [join(dir, 'none'), /there is no such file/],
      [dir, /EISDIR/],
      [bad, /neither Debian records/],
    ]) {
      const env = { ...process.env, INPUT: input };
      const done = spawnSync(process.execPath, [demo], { env, encoding: 'utf8' });
      assert.equal(done.status, 2, done.stderr);
      assert.match(done.stderr, words);
      assert.equal(done.stderr.trim().split('\n').length, 1, done.stderr);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
