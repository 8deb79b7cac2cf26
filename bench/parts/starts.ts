/**
 * What a container loads: the size of each bundle, and its time to be ready against an
 * empty handler.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { localRegion } from 'cdk-local-runner/template';
import { getHandlers } from '../../api/endpoint.ts';
import { allRoutes } from '../../api/routes.ts';
import { tables } from '../../foundations/storage/tables.ts';
import { bundle } from '../../lib/bundles.ts';
import { bundledConstants } from '../../lib/handlers.ts';
import type { BenchPart } from '../harness/bench.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';

const root = resolve(import.meta.dirname, '../..');
const handlers: readonly string[] = [...getHandlers(allRoutes), 'authorizer'];

/** The file of a handler's bundle. */
const fileIn = (folder: string, handler: string): string => join(folder, handler, 'index.cjs');

/** The bundles of all handlers, in a folder that disposal removes. */
interface Bundles extends Disposable {
  readonly folder: string;
  /** The path of a handler's bundle. */
  readonly file: (handler: string) => string;
}

/** Bundles every handler, and an empty one for comparison. */
export const makeBundles = async (): Promise<Bundles> => {
  const folder = mkdtempSync(join(tmpdir(), 'pennytrace-bundles-'));
  await bundle({ root, handlers, outdir: folder, constants: bundledConstants() });
  mkdirSync(join(folder, 'empty'));
  writeFileSync(join(folder, 'empty/index.cjs'), 'exports.handler = async () => ({ statusCode: 200 });\n');
  return {
    folder,
    file: (handler) => fileIn(folder, handler),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
};

/** Weave's door has the work of nearly all endpoints. */
const mostBytes: Readonly<Record<string, number>> = { authorizer: 250_000, weave: 750_000 };
const maxBytes = (handler: string): number => mostBytes[handler] ?? 600_000;

/** The size of each bundle, in bytes. */
export const bundleFigures = (folder: string): Figure[] =>
  handlers.map((handler) =>
    counted(`${handler}: bundle`, 'bytes', statSync(fileIn(folder, handler)).size, {
      atMost: maxBytes(handler),
    }),
  );

/** Loads a bundle as Lambda's runtime does, then prints `ready`. */
const script = `
  globalThis.awslambda = { streamifyResponse: (handle) => handle };
  const { handler } = require(process.argv[1]);
  if (typeof handler !== 'function') throw new Error('no handler');
  process.stdout.write('ready');`;

const environment = {
  SHARDS: '4',
  AWS_REGION: localRegion,
  ...Object.fromEntries(Object.entries(tables).map(([name, { variable }]) => [variable, name])),
  PAYLOADS_BUCKET: 'payloads',
  INFERENCE_UPSTREAMS: '[]',
};

/** The time from the spawn of Node until it has loaded a bundle, in ms. */
const msToReady = async (file: string): Promise<number> => {
  const began = performance.now();
  const node = spawn(process.execPath, ['--eval', script, file], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(node, 'close');
  await Promise.race([once(node.stdout, 'data'), ended]);
  const ms = performance.now() - began;
  await ended;
  if (node.exitCode !== 0) throw new Error(`${file} does not load`);
  return ms;
};

/** How often each bundle is started, in turns with the empty one. */
const rounds = 15;

const startRatios = async (bundles: Bundles): Promise<Figure[]> => {
  const empty: number[] = [];
  const ratios = new Map<string, number[]>(handlers.map((handler) => [handler, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [handler, handlerRatios] of ratios) {
      // The machine's speed varies, so each start is compared with an empty one right before it.
      const base = await msToReady(bundles.file('empty'));
      empty.push(base);
      handlerRatios.push((await msToReady(bundles.file(handler))) / base);
    }
  }
  return [
    measured('an empty handler: ready', 'ms', empty),
    ...[...ratios].map(([handler, handlerRatios]) =>
      measured(`${handler}: ready`, 'times the empty one', handlerRatios, { atMost: 2.5 }),
    ),
  ];
};

/** Sizes and starts of bundles. */
export const starts: BenchPart = {
  name: 'starts',
  title: `Bundles, and the time from the spawn of Node to a loaded handler (${rounds} rounds)`,
  run: async () => {
    using bundles = await makeBundles();
    const sizes = bundleFigures(bundles.folder);
    return [...sizes, ...(await startRatios(bundles))];
  },
};
