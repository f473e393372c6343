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

/* The repository: around this folder, or, where npm has copied the package into
 * another project, around the folder that it was copied from. */
function findRoot() {
  const copied = (process.env.npm_package_resolved ?? '').replace(/^file:/, '');
  for (const home of [__dirname, resolve(process.env.INIT_CWD ?? '.', copied)]) {
    const root = resolve(home, '..', '..');
    if (existsSync(join(root, 'kevy', 'include', 'kevy.h'))) return root;
  }
  process.stderr.write(
    'kevy-node: it is built from its repository, which is not around it; install it with\n' +
      '    npm install --install-links=false path/to/doors/node\n',
  );
  process.exit(1);
}

const root = findRoot();
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

function find(name) {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    return null;
  }
}

/* npm runs a linked package's script before it has fetched what that needs. */
function fetchNeeds() {
  if (find('node-api-headers') && find('typescript')) return;
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'));
  run('fetching what the build needs', 'npm', ['ci', '--ignore-scripts', '--prefer-offline'], {
    env: Object.fromEntries(env),
  });
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
  const include = join(find('node-api-headers'), 'include');
  const places = { KEVY_ROOT: root, KEVY_LIBRARY_DIR: library, NODE_API_INCLUDE: include };
  const defines = Object.entries(places).map(([name, path]) => `-D${name}=${path}`);
  const args = ['-S', __dirname, '-B', build, ...defines];
  run('configuring the addon', 'cmake', args);
  run('building the addon', 'cmake', ['--build', build, '-j', '2']);
}

function buildTypeScript() {
  const tsc = join(find('typescript'), 'bin', 'tsc');
  run('compiling TypeScript', process.execPath, [tsc, '-p', __dirname]);
}

fetchNeeds();
buildLibrary();
buildAddon();
buildTypeScript();
