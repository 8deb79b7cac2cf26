/**
 * The recorded figures of `figures.json`, which a test compares with the code. They are the same on
 * every machine.
 */

import type { Bench } from './harness/bench.ts';
import { generatedCalls, jsonBytes } from './harness/calls.ts';
import { counted, type Figure } from './harness/figures.ts';
import { compressedBytes } from './harness/profile.ts';
import { extraFigures } from './parts/extras.ts';
import { feedbackFigures } from './parts/feedback.ts';
import { listFigures } from './parts/lists.ts';
import { naiveFigures } from './parts/naive.ts';
import { spanUnits } from './parts/otel.ts';
import { allQueryFigures } from './parts/queries.ts';
import { rolledUpFigures } from './parts/rollups.ts';
import { bundleFigures, makeBundles } from './parts/starts.ts';
import { statisticsFigures } from './parts/statistics.ts';
import { streamFigures } from './parts/streams.ts';
import { tableFigures } from './parts/tables.ts';
import { threadFigures } from './parts/threads.ts';
import { writeFigures } from './parts/writes.ts';

/** Few enough for a test, with nearly the figures of many. */
const [conversations, alone, turns] = [6, 10, 100];
/** Queries need more: a project that fits into the first page costs less to read. */
const queriedConversations = 20;
/** Enough for batches of 100 as on a real day. Compressing alone is fast. */
const compressedConversations = 60;
/** Calls per compressed batch, for the figures behind the cost tables. */
const batchSizes = [1, 10, 25, 50, 100, 200, 400] as const;

/**
 * Whether a query reads the same every time. One over all payloads may read a segment twice,
 * depending on which shard's page comes first.
 */
const isSteady = ({ name }: Figure): boolean =>
  !/^(?:everything, all columns|count by a field of the inputs)/.test(name);

/** Calls of a month of statistics: reported, and rolled up. */
const [monthCalls, rolledUpCalls] = [1000, 100_000];
/** Calls with as many roots as lists show. */
const listedCalls = 5000;

/** Whether a figure is no time, and does not depend on how well zstd packs. */
const isCounted = ({ name, unit }: Figure): boolean => unit !== 'ms' && !/cold: write units/.test(name);

/** The minified size of every handler's bundle. */
const sizesOfBundles = ({ environment }: Bench): Figure[] => {
  if (environment.bundles !== undefined) return bundleFigures(environment.bundles);
  using bundles = makeBundles();
  return bundleFigures(bundles.folder);
};

const payloadFigures = (): Figure[] => {
  const calls = generatedCalls(compressedConversations);
  const received = jsonBytes(calls) / calls.length;
  return [
    counted('JSON', 'bytes a call', received),
    ...batchSizes.map((size) =>
      counted(`compressed in ${size}s`, 'share of JSON', compressedBytes(calls, size) / received),
    ),
    ...naiveFigures(calls).map((figure) => ({ ...figure, name: `usual layout, ${figure.name}` })),
  ];
};

/** Counts all recorded figures, by group. */
export const countRecorded = async (bench: Bench): Promise<Readonly<Record<string, readonly Figure[]>>> => {
  const calls = generatedCalls(conversations);
  return {
    writes: await writeFigures(bench, calls, alone),
    queries: (await allQueryFigures(bench, generatedCalls(queriedConversations), 1)).filter(isSteady),
    extras: (await extraFigures(bench, generatedCalls(queriedConversations))).filter(isSteady),
    feedback: await feedbackFigures(bench),
    tables: await tableFigures(bench),
    threads: await threadFigures(bench, turns),
    otel: await spanUnits(bench, generatedCalls(queriedConversations)),
    // A file of few rows has more bytes a row.
    streams: (await streamFigures(bench, calls)).filter(({ name }) => !/files$/.test(name)),
    statistics: (await statisticsFigures(bench, calls, monthCalls)).filter(isCounted),
    rollups: (await rolledUpFigures(bench, generatedCalls(queriedConversations), [rolledUpCalls])).filter(
      isCounted,
    ),
    lists: await listFigures(bench, generatedCalls(queriedConversations), listedCalls, 'apart'),
    payloads: payloadFigures(),
    bundles: sizesOfBundles(bench),
  };
};
