/**
 * The figures that are kept in `figures.json`, which a test compares with the code's: those that
 * every machine gives alike.
 */

import { extraFigures } from '../parts/extras.ts';
import { feedbackFigures } from '../parts/feedback.ts';
import { naiveFigures } from '../parts/naive.ts';
import { allQueryFigures } from '../parts/queries.ts';
import { bundleFigures, makeBundles } from '../parts/starts.ts';
import { threadFigures } from '../parts/threads.ts';
import { writeFigures } from '../parts/writes.ts';
import type { Bench } from './bench.ts';
import { generatedCalls, jsonBytes } from './calls.ts';
import { counted, type Figure } from './figures.ts';
import { compressedBytes } from './profile.ts';

/** Few enough for a test, which the figures are nearly the same at. */
const [conversations, alone, turns] = [6, 10, 100];
/** More for queries: a project that ends within the first page is read for less. */
const queriedConversations = 20;
/** Enough for batches of 100 to be like those of a real day: compressing alone is quick. */
const compressedConversations = 60;
/** How many calls are compressed together, in the figures that costs are worked out from. */
export const batchSizes = [1, 10, 25, 50, 100, 200, 400] as const;

/**
 * Whether a query reads the same every time: one that needs all payloads reads a segment twice or
 * not, by which shard's page comes first.
 */
const isSteady = ({ name }: Figure): boolean =>
  !/^(?:everything, all columns|count by a field of the inputs)/.test(name);

/** The size of every handler's bundle, minified. */
const sizesOfBundles = (): Figure[] => {
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

/** Counts all figures that are kept, by the group that they are of. */
export const countKept = async (bench: Bench): Promise<Readonly<Record<string, readonly Figure[]>>> => {
  const calls = generatedCalls(conversations);
  return {
    writes: await writeFigures(bench, calls, alone),
    queries: (await allQueryFigures(bench, generatedCalls(queriedConversations), 1)).filter(isSteady),
    extras: (await extraFigures(bench, generatedCalls(queriedConversations))).filter(isSteady),
    feedback: await feedbackFigures(bench),
    threads: await threadFigures(bench, turns),
    payloads: payloadFigures(),
    bundles: sizesOfBundles(),
  };
};
