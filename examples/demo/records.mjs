/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The input: found, told apart, split into records { name, value }.
 *
 * Debian's form is taken byte for byte: a record is a run of lines up to an
 * empty one, its value those lines each ended by one newline. JSON lines are
 * turned into that form. Anything else is an InputError that says what is
 * wrong and where.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export class InputError extends Error {}

const LIMIT = 1 << 30;
const STATUS = '/var/lib/dpkg/status';

function fileRead(path) {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new InputError(
      `${path}: ${error.code === 'ENOENT' ? 'there is no such file' : error.message}`,
    );
  }
}

/** { source, data }: INPUT, or the package index, or the installed packages. */
export function inputRead(path) {
  if (path) return { source: path, data: fileRead(path) };
  const index = spawnSync('apt-cache', ['dumpavail'], { maxBuffer: LIMIT });
  if (index.status === 0 && index.stdout.length > 0) {
    return {
      source: 'the package index of this machine (apt-cache dumpavail)',
      data: index.stdout,
    };
  }
  try {
    return { source: STATUS, data: readFileSync(STATUS) };
  } catch {
    throw new InputError(
      'this machine has no package index (apt-cache dumpavail) and no ' +
        `${STATUS}; name a file: INPUT=file make demo`,
    );
  }
}

const NEWLINE = 10;
const nameLine = /^Package:[ \t]*([^\n]*?)[ \t]*$/m;

/* One record of Debian's form, or null for empty lines only. */
function debianRecord(lines, at) {
  const text = lines.toString('latin1');
  if (text.trim() === '') return null;
  const found = nameLine.exec(text);
  if (!found || found[1] === '') {
    throw new InputError(`the record at byte ${at} has no line "Package: name"`);
  }
  const wrong = text
    .split('\n')
    .findIndex((line) => line !== '' && !/^([!-9;-~]+:|[ \t])/.test(line));
  if (wrong >= 0) {
    throw new InputError(`line ${wrong + 1} of the record at byte ${at} is no "Field: value"`);
  }
  const name = Buffer.from(found[1], 'latin1').toString('utf8');
  const isEnded = lines[lines.length - 1] === NEWLINE;
  return { name, value: isEnded ? lines : Buffer.concat([lines, Buffer.from('\n')]) };
}

function debianRecords(data) {
  const records = [];
  for (let start = 0; start < data.length;) {
    while (data[start] === NEWLINE) start++;
    const gap = data.indexOf('\n\n', start);
    const end = gap < 0 ? data.length : gap + 1;
    const record = start < end ? debianRecord(data.subarray(start, end), start) : null;
    if (record !== null) records.push(record);
    start = end + 1;
  }
  return records;
}

const fieldText = (value) =>
  typeof value === 'string'
    ? value
    : Array.isArray(value)
      ? value.map(fieldText).join(', ')
      : JSON.stringify(value);

/* Lines after the first are continued as Debian does: a space, and " ." for an empty one. */
function fieldLine(name, value) {
  const field = name.replace(/[^!-9;-~]+/g, '-') || '-';
  const [first, ...rest] = fieldText(value).split(/\r\n|\r|\n/);
  return [`${field}: ${first}`, ...rest.map((line) => ` ${line === '' ? '.' : line}`), ''].join(
    '\n',
  );
}

function jsonRecord(line, number) {
  let object;
  try {
    object = JSON.parse(line);
  } catch (error) {
    throw new InputError(`line ${number} is no JSON: ${error.message}`);
  }
  if (object === null || typeof object !== 'object' || Array.isArray(object)) {
    throw new InputError(`line ${number} is no JSON object`);
  }
  const { Package, name, ...fields } = object;
  const key = Package ?? name;
  if (typeof key !== 'string' || key === '' || key.includes('\n')) {
    throw new InputError(`line ${number} has no member "Package" or "name" that could be a key`);
  }
  if (Package !== undefined && name !== undefined) fields.name = name;
  const lines = Object.entries(fields).map(([field, value]) => fieldLine(field, value));
  return { name: key, value: Buffer.from(fieldLine('Package', key) + lines.join('')) };
}

function jsonRecords(data) {
  const records = [];
  data
    .toString('utf8')
    .split('\n')
    .forEach((line, index) => {
      if (line.trim() !== '') records.push(jsonRecord(line, index + 1));
    });
  return records;
}

/** All records of the input, in its order; names may come more than once. */
export function recordsParse(data) {
  const first = data
    .subarray(0, 4096)
    .toString('latin1')
    .replace(/^\ufeff|^\u00ef\u00bb\u00bf/, '')
    .trimStart();
  let records;
  if (first.startsWith('{')) records = jsonRecords(data);
  else if (/^[!-9;-~]+:/.test(first)) records = debianRecords(data);
  else {
    throw new InputError(
      'neither Debian records ("Package: name" and more such lines, records parted by an empty ' +
        'line) nor JSON lines (one object a line)',
    );
  }
  if (records.length === 0) throw new InputError('there is no record in it');
  return records;
}

const HOUR = 3600000;

/** The time to live of a record in ms, 0 none: one to two hours for libraries. */
export function ttlOf(name) {
  if (!name.startsWith('lib')) return 0;
  let hash = 0;
  for (const character of name) hash = (hash * 31 + character.codePointAt(0)) >>> 0;
  return HOUR + (hash % HOUR);
}
