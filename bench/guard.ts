/**
 * The recorded figures in `figures.json`, which are the same on every machine. A test counts them anew
 * and fails if they differ by more than their tolerance. `npm run bench:guard` prints and writes those.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runPlain } from '../bin/common.ts';
import { type Bench, openBench } from './harness/bench.ts';
import { compressedBytes, generatedCalls, jsonBytes } from './harness/calls.ts';
import { counted, type Figure } from './harness/figures.ts';
import { alertFigures } from './parts/alerts.ts';
import { auditFigures } from './parts/audit.ts';
import { extremeFigures } from './parts/extremes.ts';
import { feedbackFigures } from './parts/feedback.ts';
import { issueFigures } from './parts/issues.ts';
import { spanUnits } from './parts/otel.ts';
import { promptFigures } from './parts/prompts.ts';
import { allQueryFigures, extraFigures, listFigures } from './parts/reading.ts';
import { bundleFigures, makeBundles } from './parts/starts.ts';
import { rolledUpFigures, statisticsFigures, threadFigures } from './parts/statistics.ts';
import { streamFigures } from './parts/streams.ts';
import { textFigures } from './parts/texts.ts';
import { naiveFigures, tableFigures, writeFigures } from './parts/writing.ts';

/** Few enough for a test, with nearly the figures of many. */
const conversations = 6;
const alone = 10;
const turns = 100;
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
  !/^(?:everything, all columns|count by a field of the inputs)|nothing known|at first/.test(name);

/** Calls of a month of statistics: reported, and rolled up. */
const monthCalls = 1000;
const rolledUpCalls = 100_000;
/** Calls whose texts are searched before and after they are noted: 50 hours of them. */
const searchedCalls = 2000;
/** More calls a day than are known of it. */
const sortedCalls = 5000;
/** Calls with as many roots as lists show. */
const listedCalls = 5000;

/** Whether a figure is no time, and does not depend on how well zstd packs. */
const isCounted = ({ name, unit }: Figure): boolean => unit !== 'ms' && !/cold: write units/.test(name);

/** The minified size of every handler's bundle. */
const sizesOfBundles = async ({ environment }: Bench): Promise<Figure[]> => {
  if (environment.bundles !== undefined) return bundleFigures(environment.bundles);
  using bundles = await makeBundles();
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
    prompts: await promptFigures(bench),
    audit: await auditFigures(bench),
    threads: await threadFigures(bench, turns),
    otel: await spanUnits(bench, generatedCalls(queriedConversations)),
    // A file of few rows has more bytes a row.
    streams: (await streamFigures(bench, calls)).filter(({ name }) => !/files$/.test(name)),
    statistics: (await statisticsFigures(bench, calls, monthCalls)).filter(isCounted),
    rollups: (await rolledUpFigures(bench, generatedCalls(queriedConversations), [rolledUpCalls])).filter(
      isCounted,
    ),
    texts: (await textFigures(bench, generatedCalls(queriedConversations), searchedCalls)).filter(
      (figure) => isCounted(figure) && isSteady(figure),
    ),
    extremes: (await extremeFigures(bench, generatedCalls(queriedConversations), sortedCalls)).filter(
      ({ unit }) => unit === 'units',
    ),
    alerts: (await alertFigures(bench, generatedCalls(queriedConversations))).filter(isCounted),
    issues: await issueFigures(bench),
    lists: await listFigures(bench, generatedCalls(queriedConversations), listedCalls, 'apart'),
    payloads: payloadFigures(),
    bundles: await sizesOfBundles(bench),
  };
};

/** Figures by `<group>: <name>`, each with its unit. */
export type RecordedFigures = Readonly<Record<string, readonly [value: number, unit: string]>>;

const file = join(import.meta.dirname, 'figures.json');

/** Enough digits for changes that matter, few enough to read. */
const shortened = (value: number): number => Number(value.toPrecision(5));

/** Converts figures to the recorded form. The components of a sum become figures of their own. */
export const toRecorded = (groups: Readonly<Record<string, readonly Figure[]>>): RecordedFigures =>
  Object.fromEntries(
    Object.entries(groups).flatMap(([group, figures]) =>
      figures.flatMap(({ name, unit, median, of = {} }) => [
        [`${group}: ${name}`, [shortened(median), unit]],
        ...Object.entries(of).map(([component, value]) => [
          `${group}: ${name}, ${component}`,
          [shortened(value), unit],
        ]),
      ]),
    ),
  );

export const readRecorded = (): RecordedFigures => JSON.parse(readFileSync(file, 'utf8')) as RecordedFigures;

/**
 * The relative tolerance of a figure. Units and requests never vary by chance. Bytes depend on zstd
 * and esbuild, which a patch release of Node may change.
 */
const getTolerance = (unit: string): number => (/bytes|JSON/.test(unit) ? 0.02 : 0.001);

const isTolerable = (old: number, value: number, unit: string): boolean =>
  Math.abs(value - old) <= getTolerance(unit) * Math.abs(old) + Number.EPSILON;

/**
 * The differences between recorded and new figures that exceed their tolerance, one line each; empty
 * if there are none.
 */
export const differences = (before: RecordedFigures, now: RecordedFigures): string[] => {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return names.flatMap((name) => {
    const [old, unit = ''] = before[name] ?? [];
    const [value, newUnit = unit] = now[name] ?? [];
    if (old === undefined) return [`${name}: is new, ${value} ${newUnit}`];
    if (value === undefined) return [`${name}: was ${old} ${unit} and is gone`];
    if (isTolerable(old, value, unit)) return [];
    return [`${name}: ${value > old ? 'grew' : 'shrank'} from ${old} to ${value} ${unit}`];
  });
};

/**
 * What to record: the new figures, in their order. Those within tolerance keep the recorded value, so
 * that a change shows only what it changed.
 */
export const updated = (before: RecordedFigures, now: RecordedFigures): RecordedFigures =>
  Object.fromEntries(
    Object.entries(now).map(([name, [value, unit]]) => {
      const old = before[name];
      return [name, old && old[1] === unit && isTolerable(old[0], value, unit) ? old : [value, unit]];
    }),
  );

/** The end of a message about differences. */
export const advice = `If the change is intended, update bench/figures.json with \`npm run bench:guard\` and commit it.`;

const writeRecorded = (figures: RecordedFigures): void => {
  const lines = Object.entries(figures).map(
    ([name, figure]) =>
      `  ${JSON.stringify(name)}: [${figure.map((item) => JSON.stringify(item)).join(', ')}]`,
  );
  writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`);
};

const update = async (): Promise<void> => {
  await using bench = await openBench();
  const before = readRecorded();
  const now = toRecorded(await countRecorded(bench));
  const changes = differences(before, now);
  if (changes.length > 0) writeRecorded(updated(before, now));
  console.log(changes.join('\n') || 'Nothing has changed.');
};

if (import.meta.main)
  await runPlain(
    'bench:guard',
    'Count the figures of bench/figures.json anew, and write those beyond their tolerance: npm run bench:guard',
    update,
  );
