import { callReads } from './data/call-reads.ts';
import { callRewrites } from './data/call-rewrites.ts';
import { callWrites } from './data/calls.ts';
import { costReads, costRewrites, costWrites } from './data/costs.ts';
import { feedbackReads, feedbackRewrites, feedbackWrites } from './data/feedback.ts';
import { objectReads, objectRewrites, objectWrites } from './data/objects.ts';
import type { StoredRequest } from './exchange.ts';

/** What is written to empty stores, read, written over, and read again. */
export interface StoredSet {
  /** The folder of its files. */
  readonly name: string;
  /** What it is, for the names of tests. */
  readonly title: string;
  /** The functions' environment beside the stores'. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the code of today writes the same bytes. */
  readonly current: boolean;
  /** Whether it has keys. */
  readonly keys: boolean;
  readonly writes: readonly StoredRequest[];
  readonly reads: readonly StoredRequest[];
  readonly rewrites: readonly StoredRequest[];
  readonly rereads: readonly StoredRequest[];
}

const named = (reads: readonly StoredRequest[], ...names: string[]): StoredRequest[] =>
  reads.filter(({ name }) => names.includes(name));

const everything = [...callReads, ...objectReads, ...costReads, ...feedbackReads];

/** Everything, kept for good. */
export const keptSet: StoredSet = {
  name: 'kept',
  title: 'data that is kept for good',
  environment: {},
  current: false,
  keys: true,
  writes: [...callWrites, ...objectWrites, ...costWrites, ...feedbackWrites],
  reads: everything,
  rewrites: [...callRewrites, ...objectRewrites, ...costRewrites, ...feedbackRewrites],
  rereads: named(
    everything,
    ...[
      'calls: without their payloads',
      'calls: by id',
      'calls: by turn',
      'statistics 0',
      'threads 0',
      'objects: all versions',
    ],
    ...['what refs lead to', 'prices: all', 'feedback: newest first', 'feedback: by id'],
  ),
};

/** The same as the code stores it that shows small payloads in lists. */
export const listsSet: StoredSet = {
  ...keptSet,
  name: 'lists',
  title: 'data with payloads in lists',
};

/** The same as the code stores it whose headers are bytes. */
export const version3Set: StoredSet = {
  ...keptSet,
  name: 'version-3',
  title: 'data with headers of version 3',
  current: true,
};

/** What expires, with a retention. */
export const expiringSet: StoredSet = {
  name: 'expiring',
  title: 'data that expires',
  environment: { RETENTION_DAYS: '30' },
  current: false,
  keys: false,
  writes: [...callWrites, ...feedbackWrites],
  reads: named(everything, 'calls: by id', 'calls: by turn', 'threads 0', 'feedback: by id'),
  rewrites: [...callRewrites, ...feedbackRewrites],
  rereads: named(everything, 'calls: by id', 'feedback: by id'),
};

/** Calls as the code before packed usage wrote them, with headers of version 1. */
export const version1Set: StoredSet = {
  name: 'version-1',
  title: 'calls with headers of version 1',
  environment: {},
  current: false,
  keys: false,
  writes: callWrites,
  reads: named(everything, 'calls: all', 'calls: by usage', 'calls: as a table', 'threads 0', 'statistics 0'),
  rewrites: callRewrites,
  rereads: named(everything, 'calls: without their payloads', 'calls: by id'),
};
