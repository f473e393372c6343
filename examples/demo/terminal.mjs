/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the demo shows: headings, a progress bar on a terminal (a few lines
 * elsewhere), facts, a table. Nothing here knows what it is about.
 */
const isTerminal = process.stdout.isTTY === true;
const BAR = 32;

export const number = (value) => Math.round(value).toLocaleString('en-US');

export const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

export function heading(text) {
  console.log(`\n${isTerminal ? `\x1b[1m${text}\x1b[0m` : text}`);
}

export function fact(text) {
  console.log(`  ${text}`);
}

/** Returns (done) => void, to be called as often as one likes. */
export function progress(label, total) {
  let shown = -1;
  return (done) => {
    const percent = total > 0 ? Math.floor((100 * done) / total) : 100;
    const step = isTerminal ? percent : Math.floor(percent / 25) * 25;
    if (step === shown || (!isTerminal && step === 0)) return;
    shown = step;
    if (isTerminal) {
      const full = Math.round((BAR * percent) / 100);
      const bar = '█'.repeat(full) + '░'.repeat(BAR - full);
      process.stdout.write(`\r  ${label} ${bar} ${String(percent).padStart(3)} %`);
    } else {
      console.log(`  ${label} ${step} %`);
    }
  };
}

/** Ends a progress bar's line. */
export function progressEnd() {
  if (isTerminal) process.stdout.write('\n');
}

/** Rows of strings; the first is the head, all columns but the first to the right. */
export function table(rows) {
  const width = rows[0].map((_, column) => Math.max(...rows.map((row) => [...row[column]].length)));
  const line = (row) =>
    row
      .map((cell, column) => {
        const space = ' '.repeat(width[column] - [...cell].length);
        return column === 0 ? cell + space : space + cell;
      })
      .join('   ')
      .trimEnd();
  const [head, ...body] = rows.map(line);
  console.log(`  ${head}\n  ${'─'.repeat(head.length)}`);
  for (const row of body) console.log(`  ${row}`);
}
