import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { vi } from 'vitest';
import { faultPlan } from '../faults/faulty-client.ts';
import type { InProcess } from '../service/in-process.ts';
import { callReads, callRewrites, callWrites } from './data/calls.ts';
import { costReads, costRewrites, costWrites } from './data/costs.ts';
import { feedbackReads, feedbackRewrites, feedbackWrites } from './data/feedback.ts';
import { objectReads, objectRewrites, objectWrites } from './data/objects.ts';
import type { Authorization } from './keys.ts';
import { withMarkers } from './noise.ts';
import type { Changes, Entry } from './snapshot.ts';

/** A request, as one of a fixed list. */
export interface StoredRequest {
  /** What it is about; no two of a list have the same. */
  readonly name: string;
  readonly path: string;
  readonly body: object;
  /** @default - the form that the endpoint has by itself */
  readonly accept?: string;
  /** The operation that the stores refuse, e.g. `DeleteItem`: the request dies there. */
  readonly refused?: string;
}

/** What is kept of the answer to a request. */
export interface StoredAnswer {
  readonly name: string;
  readonly status: number | undefined;
  readonly type: string | undefined;
  /** The body, noise as markers; of errors the places and types alone. */
  readonly text: string;
}

/*
 * Requests are written to empty stores, read, written over and read again. The clock at each of
 * these is in milliseconds since 1970, and far ahead, since DynamoDB Local deletes what has expired.
 */
export const writtenAt = Date.UTC(2100, 0, 1);
export const readAt = Date.UTC(2100, 0, 11);
export const rewrittenAt = Date.UTC(2100, 0, 21);
export const rereadAt = Date.UTC(2100, 0, 31);

export const writes: readonly StoredRequest[] = [
  ...callWrites,
  ...objectWrites,
  ...costWrites,
  ...feedbackWrites,
];
export const reads: readonly StoredRequest[] = [...callReads, ...objectReads, ...costReads, ...feedbackReads];
export const rewrites: readonly StoredRequest[] = [
  ...callRewrites,
  ...objectRewrites,
  ...costRewrites,
  ...feedbackRewrites,
];

const rereadNames = new Set([
  'calls: without their payloads',
  'calls: by id',
  'calls: by turn',
  'statistics 0',
  'threads 0',
  'objects: all versions',
  'what refs lead to',
  'prices: all',
  'feedback: newest first',
  'feedback: by id',
]);
export const rereads = reads.filter(({ name }) => rereadNames.has(name));

const hour = 3_600_000;

/** An error's message may be worded anew; its status, place and type stay. */
const withoutMessages = (text: string): string =>
  JSON.stringify(JSON.parse(text), (key, value: unknown) => (key === 'msg' ? undefined : value));

/**
 * Sends requests one after the other, each an hour after the one before by the clock of the
 * process, and gives their answers.
 *
 * @param startMs the clock at the first request, in milliseconds since 1970
 */
export const exchange = async (
  service: InProcess,
  requests: readonly StoredRequest[],
  startMs: number,
): Promise<StoredAnswer[]> => {
  const answers: StoredAnswer[] = [];
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    for (const [i, { name, path, body, accept, refused }] of requests.entries()) {
      vi.setSystemTime(startMs + i * hour);
      const plan = faultPlan((_, operation) => (operation === refused ? 'refuse' : 'none'));
      const headers = accept === undefined ? {} : { accept };
      const { status, headers: answered, text } = await service.send({ path, body, headers }, { plan });
      const type = answered['content-type'];
      answers.push({ name, status, type, text: status === 200 ? withMarkers(text) : withoutMessages(text) });
    }
  } finally {
    vi.useRealTimers();
  }
  return answers;
};

/** What the files of the golden set hold, by name: a list each, one element a line. */
export interface GoldenFiles {
  /** The answers to what was written. */
  readonly written: StoredAnswer;
  /** What the stores held then. */
  readonly items: Entry;
  /** The answers to what was read then. */
  readonly read: StoredAnswer;
  /** What the authorizer made of keys. */
  readonly authorized: Authorization;
  /** The answers to what was written over it. */
  readonly rewritten: StoredAnswer;
  /** What became of the stores by that: one element. */
  readonly changes: Changes;
  /** The answers to what was read at last. */
  readonly reread: StoredAnswer;
  /** The version of zstd that made the frames: one element. */
  readonly zstd: string;
}

const toPath = (name: string): string => join(import.meta.dirname, `golden/${name}.jsonl`);

/** Reads a file of the golden set. */
export const readGolden = async <Name extends keyof GoldenFiles>(
  name: Name,
): Promise<GoldenFiles[Name][]> => {
  const text = await readFile(toPath(name), 'utf8');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as GoldenFiles[Name]]));
};

/** Writes a file of the golden set. */
export const writeGolden = async <Name extends keyof GoldenFiles>(
  name: Name,
  list: readonly GoldenFiles[Name][],
): Promise<void> => {
  const path = toPath(name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, list.map((element) => `${JSON.stringify(element)}\n`).join(''));
};
