/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Paths, open options and reports on their way to and from the addon.
 */
import { failure, host, objectCheck } from './native';

/** How to open; all but fsync are hints that change only size and timing. */
export interface OpenOptions {
  /**
   * When a write survives a power cut: within a second (`everysec`, the
   * default), on return (`always`), at the system's pace (`no`). A killed
   * process loses no write under any of them.
   */
  fsync?: 'everysec' | 'always' | 'no';
  shards?: number;
  rewritePct?: number;
  rewriteMinSize?: number;
  rewriteBytes?: number;
  rewriteIntervalSecs?: number;
}

/** What an open found; all zero for a store in memory. */
export interface OpenReport {
  replayedCommands: number;
  replayedBytes: number;
  elapsedMs: number;
  /** More than 0: the store holds less than its files did. */
  droppedBytes: number;
  corrupt: boolean;
  quarantineCount: number;
}

const policies = ['everysec', 'always', 'no'];

function count(name: string, value: number | undefined, otherwise: number, max: number): number {
  if (value === undefined) return otherwise;
  if (typeof value !== 'number') {
    throw failure(TypeError, 'KEVY_EMISUSE', `option ${name} is not a number`);
  }
  if (!Number.isInteger(value) || value < 0 || value > max) {
    throw failure(RangeError, 'KEVY_ERANGE', `option ${name} is not an integer in 0 … ${max}`);
  }
  return value;
}

/** The numbers of KevyOpenOptions, in its order. */
export function optionNumbers(options: OpenOptions = {}): number[] {
  objectCheck(options, 'open options');
  const { fsync = 'everysec' } = options;
  const policy = policies.indexOf(fsync);
  if (policy < 0) {
    throw failure(RangeError, 'KEVY_ERANGE', `option fsync is none of ${policies.join(', ')}`);
  }
  const u32 = 2 ** 32 - 1;
  const u53 = Number.MAX_SAFE_INTEGER;
  return [
    policy,
    count('shards', options.shards, 0, u32),
    count('rewritePct', options.rewritePct, 100, u32),
    count('rewriteMinSize', options.rewriteMinSize, 64 * 1024 * 1024, u53),
    count('rewriteBytes', options.rewriteBytes, 0, u53),
    count('rewriteIntervalSecs', options.rewriteIntervalSecs, 0, u53),
  ];
}

export function reportOf(numbers: number[]): OpenReport {
  const [replayedCommands, replayedBytes, elapsedMs, droppedBytes, corrupt, quarantineCount] =
    numbers as [number, number, number, number, number, number];
  return {
    replayedCommands,
    replayedBytes,
    elapsedMs,
    droppedBytes,
    corrupt: corrupt !== 0,
    quarantineCount,
  };
}

/** A directory: a path, the text of a file:// URL, or a URL. */
export type Path = string | { readonly href: string };

/** The path that `dir` names. */
export function pathOf(dir: Path): string {
  const text = typeof dir === 'string' ? dir : (dir as { href?: unknown } | null)?.href;
  if (typeof text !== 'string') {
    throw failure(TypeError, 'KEVY_EMISUSE', 'the directory is neither a string nor a URL');
  }
  if (typeof dir === 'string' && !/^file:\/\//i.test(dir)) return dir;
  try {
    return host.fileURLToPath(text);
  } catch (error) {
    throw failure(Error, 'KEVY_EPATH', `${text}: ${(error as Error).message}`);
  }
}
