/** Measures the service: `npm run bench -- --help`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { dirname } from 'node:path';
import { UsageError, usageText } from '../bin/common.ts';
import { type Bench, type BenchContext, type BenchPart, openBench } from './harness/bench.ts';
import { type Call, generatedCalls, jsonBytes, readCalls } from './harness/calls.ts';
import { type Figure, printFigures, verdict } from './harness/figures.ts';
import { type BenchOptions, help, parseOptions } from './harness/options.ts';
import { agents } from './parts/agents.ts';
import { alertPart } from './parts/alerts.ts';
import { auditPart } from './parts/audit.ts';
import { extremes } from './parts/extremes.ts';
import { feedback } from './parts/feedback.ts';
import { headers } from './parts/headers.ts';
import { inference } from './parts/inference.ts';
import { issuePart } from './parts/issues.ts';
import { limits } from './parts/limits.ts';
import { memory } from './parts/memory.ts';
import { otel } from './parts/otel.ts';
import { page } from './parts/page.ts';
import { promptPart } from './parts/prompts.ts';
import { extrasPart, listPart, queries } from './parts/reading.ts';
import { redaction } from './parts/redaction.ts';
import { reservations } from './parts/reservations.ts';
import { speed } from './parts/speed.ts';
import { starts } from './parts/starts.ts';
import { rollups, statistics, threads } from './parts/statistics.ts';
import { streams } from './parts/streams.ts';
import { texts } from './parts/texts.ts';
import { tokens } from './parts/tokens.ts';
import { translationPart } from './parts/translation.ts';
import { warm } from './parts/warm.ts';
import { weave } from './parts/weave.ts';
import { cpu, tablePart, writes } from './parts/writing.ts';

/** All parts of the bench in order: counts, then times. */
const parts: readonly BenchPart[] = [
  writes,
  queries,
  listPart,
  extrasPart,
  feedback,
  tablePart,
  promptPart,
  auditPart,
  threads,
  statistics,
  rollups,
  texts,
  extremes,
  alertPart,
  issuePart,
  otel,
  streams,
  cpu,
  headers,
  reservations,
  weave,
  redaction,
  limits,
  starts,
  memory,
  speed,
  warm,
  tokens,
  inference,
  translationPart,
  agents,
  page,
];

/** Enough conversations for steady figures and a short run. */
const conversations = 60;

const progress = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

/** Runs the selected parts one after the other and prints each as it ends. */
const runParts = async (options: BenchOptions, calls: readonly Call[]): Promise<Record<string, Figure[]>> => {
  await using cleanup = new AsyncDisposableStack();
  let opened: Promise<Bench> | undefined;
  const bench = (): Promise<Bench> => {
    opened ??= openBench().then((fresh) => cleanup.use(fresh));
    return opened;
  };
  const context: BenchContext = { calls, sizes: options.sizes, bench, progress };
  const figures: Record<string, Figure[]> = {};
  for (const part of parts.filter(({ name }) => options.only?.includes(name) ?? true)) {
    progress(`${part.name} …`);
    const partFigures = [...(await part.run(context))];
    figures[part.name] = partFigures;
    printFigures(part.title, partFigures);
  }
  return figures;
};

/** The machine, runtime and calls behind the figures. */
const environment = (options: BenchOptions, calls: readonly Call[]) => ({
  measuredAt: new Date().toISOString(),
  node: process.version,
  cpu: `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
  calls: {
    from: options.file ?? 'examples/agent-traces.ts',
    count: calls.length,
    jsonBytes: jsonBytes(calls),
  },
});

const run = async (options: BenchOptions): Promise<void> => {
  const calls = options.file === undefined ? generatedCalls(conversations) : readCalls(options.file);
  const bytesEach = Math.round(jsonBytes(calls) / calls.length);
  console.log(`${calls.length} calls of ${bytesEach} bytes of JSON each on average; Node ${process.version}`);
  const figures = await runParts(options, calls);
  mkdirSync(dirname(options.json), { recursive: true });
  writeFileSync(options.json, `${JSON.stringify({ ...environment(options, calls), figures }, null, 2)}\n`);
  const missed = Object.values(figures)
    .flat()
    .filter((figure) => verdict(figure) === 'missed');
  console.log(`\nWritten to ${options.json}. Floors missed: ${missed.length || 'none'}`);
  for (const { name, median, unit, atMost } of missed)
    console.log(`  ${name}: ${median} ${unit}, above ${atMost}`);
  if (missed.length > 0) process.exitCode = 1;
};

try {
  const names = parts.map(({ name }) => name);
  const options = parseOptions(process.argv.slice(2), names);
  if (options.help) console.log(help(names));
  else await run(options);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(usageText('bench', error));
  process.exitCode = 2;
}
