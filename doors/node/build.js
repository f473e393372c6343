/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Builds the package in place, without the network: libkevy in the
 * repository's build/release (which the JVM door uses too), the addon in
 * build/, the TypeScript in dist/. `npm install` and `npm test` run it; what
 * is up to date is left alone.
 *
 * KEVY_LIBRARY_DIR=dir uses the libkevy in dir instead of building one.
 */
'use strict';
const { spawnSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const { dirname, join, resolve } = require('node:path');

const root = resolve(__dirname, '..', '..');
const library = process.env.KEVY_LIBRARY_DIR
  ? resolve(process.env.KEVY_LIBRARY_DIR)
  : join(root, 'build', 'release');

function run(what, command, args, options = {}) {
  const done = spawnSync(command, args, { cwd: __dirname, encoding: 'utf8', ...options });
  if (done.status === 0) return;
  const why = done.error?.code === 'ENOENT' ? `${command} is not installed` : 'see above';
  process.stderr.write(`${done.stdout ?? ''}${done.stderr ?? ''}`);
  process.stderr.write(`kevy-node: ${what} failed (${why})\n`);
  process.exit(1);
}

function buildLibrary() {
  if (process.env.KEVY_LIBRARY_DIR) return;
  if (!existsSync(join(library, 'CMakeCache.txt'))) {
    run('configuring libkevy', 'cmake', ['--preset', 'release'], { cwd: root });
  }
  run('building libkevy', 'cmake', ['--build', library, '--target', 'kevy', '-j', '2']);
}

function buildAddon() {
  const build = join(__dirname, 'build');
  const args = ['-S', __dirname, '-B', build, `-DKEVY_LIBRARY_DIR=${library}`];
  run('configuring the addon', 'cmake', args);
  run('building the addon', 'cmake', ['--build', build, '-j', '2']);
}

function buildTypeScript() {
  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
  run('compiling TypeScript', process.execPath, [tsc, '-p', __dirname]);
}

buildLibrary();
buildAddon();
buildTypeScript();
