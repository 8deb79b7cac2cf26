/**
 * What spans take: write units in batches of two sizes, and processor time. The latter is held against the least that any such service must do.
 */
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { fromBinary } from '@bufbuild/protobuf';
import { decodeExport, encodeAnswer, selectSpans, storeSpans } from '../../core/doors/otel/index.ts';
import type { Store } from '../../foundations/storage/index.ts';
import { ExportTraceServiceRequestSchema } from '../../test/support/otel/proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { type Bench, type BenchContext, type BenchPart, totalUnits, unitsEach } from '../harness/bench.ts';
import { type Call, callsOfBytes, repeatCalls, toExports, zstdParams } from '../harness/calls.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import { benchBudget } from '../harness/reporting.ts';
import { cpuEach, instantStore } from '../harness/stores.ts';

const compress = promisify(zstdCompress);
const protobuf = 'application/x-protobuf';
const grants = [{ scope: '*', role: 'write' }] as const;

/** The sizes of batches: of the other measurements, and of OpenTelemetry's SDKs. */
const sizes = [100, 512] as const;

/** Takes an export as the endpoint's function does. */
const take = async (store: Store, bytes: Uint8Array): Promise<void> => {
  const received = await decodeExport(bytes, protobuf, '');
  const { spans, rejected } = selectSpans(received, { grants, role: 'write', header: undefined });
  await storeSpans({ calls: store, feedback: store }, spans, 'ada', benchBudget());
  encodeAnswer(protobuf, rejected);
};

const takeAll = async (store: Store, exports: readonly Uint8Array[]): Promise<void> => {
  for (const bytes of exports) await take(store, bytes);
};

/** Write units of a span in exports of one kind. */
const measureUnits = async (
  bench: Bench,
  name: string,
  exports: readonly Uint8Array[],
  count: number,
  atMost?: number,
): Promise<Figure[]> => {
  const store = await bench.newStore('calls');
  const { writes, reads } = await bench.capacity.during(() => takeAll(store, exports));
  return [
    counted(`${name}: write units`, 'units a span', totalUnits(writes) / count, {
      of: unitsEach(writes, count),
      ...(atMost !== undefined && { atMost }),
    }),
    counted(`${name}: read units`, 'units a span', totalUnits(reads) / count, { atMost: 0 }),
  ];
};

/**
 * Write units of spans in batches, and of small and large ones. They are the same on any machine.
 */
export const spanUnits = async (bench: Bench, calls: readonly Call[]): Promise<Figure[]> => {
  const figures: Figure[] = [];
  const spans = [...repeatCalls(calls, 1024)];
  for (const size of sizes) {
    const whole = Math.floor(spans.length / size) * size;
    for (const inThread of [false, true]) {
      const name = `in ${size}s${inThread ? ', in threads' : ''}`;
      const exports = toExports(spans, size, inThread);
      figures.push(...(await measureUnits(bench, name, exports, whole, inThread ? 4.4 : 3.3)));
    }
  }
  for (const bytes of [600, 6000]) {
    const exports = toExports(callsOfBytes(spans.slice(0, 100), bytes), 100, false);
    figures.push(...(await measureUnits(bench, `of ${bytes} bytes`, exports, 100)));
  }
  return figures;
};

const json = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

/** Decodes, writes as JSON and compresses: the least that has to be done. */
const bareMinimum = async (bytes: Uint8Array): Promise<void> => {
  const { resourceSpans } = fromBinary(ExportTraceServiceRequestSchema, bytes);
  await compress(Buffer.from(JSON.stringify(resourceSpans, json)), { params: zstdParams });
};

/** The number of measured rounds. As many unmeasured ones let V8 optimize before. */
const rounds = 7;

const processorTime = async (exports: readonly Uint8Array[], size: number): Promise<Figure[]> => {
  const store = instantStore();
  const count = exports.length * size;
  const bare: number[] = [];
  const service: number[] = [];
  const measureTask = async (task: (bytes: Uint8Array) => Promise<void>) => {
    for (const bytes of exports) await task(bytes);
  };
  for (let round = 0; round < 2 * rounds; round++) {
    bare.push(await cpuEach(() => measureTask(bareMinimum), count));
    service.push(await cpuEach(() => measureTask((bytes) => take(store, bytes)), count));
  }
  const warmBare = bare.slice(rounds);
  const warm = service.slice(rounds);
  return [
    measured(`decode, stringify, compress, in ${size}s`, 'ms a span', warmBare),
    measured(`all but the network, in ${size}s`, 'ms a span', warm),
    measured(
      `against that, in ${size}s`,
      'ratio',
      warm.map((ms, i) => ms / (warmBare[i] ?? Number.NaN)),
      { atMost: 3 },
    ),
  ];
};

const run = async ({ bench, calls }: BenchContext): Promise<Figure[]> => {
  const spans = [...repeatCalls(calls, 1024)];
  const times = [];
  for (const size of sizes) times.push(...(await processorTime(toExports(spans, size, true), size)));
  return [...(await spanUnits(await bench(), calls)), ...times];
};

/** What spans take. */
export const otel: BenchPart = {
  name: 'otel',
  title: `Spans by OTLP, in batches of ${sizes.join(' and ')}`,
  run,
};
