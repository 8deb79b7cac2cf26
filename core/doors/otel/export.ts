import { promisify } from 'node:util';
import { gunzip, inflate, inflateRaw } from 'node:zlib';
import type { RequestBudget } from '../../../foundations/storage/index.ts';
import { decodeUtf8, ServiceError, tooLarge } from '../../../foundations/wire/index.ts';
import { writeCalls } from '../../records/calls/index.ts';
import { agentSpan, isFromAgent, isOfAgent, spansLeftOut, storeFacts } from './agents/meeting.ts';
import type { Encoding } from './answer.ts';
import { type ProjectSpan, toCalls } from './calls.ts';
import { isMcpProtocol } from './conventions/mcp.ts';
import { decodeJson, decodeJsonLogs, decodeJsonMetrics } from './decode/json.ts';
import { decodeProtobuf, decodeProtobufLogs, decodeProtobufMetrics } from './decode/protobuf.ts';
import { badBody, type Rejection } from './decode/spans.ts';
import { findResults, isResult, settleWaiting, storeResults, type VerdictStores } from './evaluations.ts';
import { isContent, joinLater, storeContent, withEarlier } from './joining.ts';
import { writeSpans } from './meeting.ts';
import { pausesIn, settlePauses, withEarlierPauses } from './pauses.ts';
import { type ProjectRecord, requireProject, type Selection } from './projects.ts';
import { nested } from './values.ts';

/** The most bytes of an unpacked body, unless it says otherwise. zlib stops there, before it unfolds more. */
const maxUnpackedBytes = 32 * 1024 * 1024;

type Unpack = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>;

const unpackers = {
  gzip: promisify(gunzip) as Unpack,
  zlib: promisify(inflate) as Unpack,
  raw: promisify(inflateRaw) as Unpack,
};

/** Neither a JSON object nor a message of this kind begins like packed bytes. */
const looksUnpacked = (first: number | undefined): boolean =>
  first === undefined || first === 0x0a || first === 0x7b || first === 0x20;

/**
 * Whether bytes begin as RFC 1950 has it. Most senders of `deflate` mean that; some send RFC 1951
 * without a head.
 */
const isZlib = ([first = 0, second = 0]: Uint8Array): boolean =>
  (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;

/**
 * How a body is packed; undefined if it is not. API Gateway documents that it unpacks bodies by
 * itself and does not say what becomes of the header, so the bytes decide.
 *
 * @throws ServiceError 415 for another encoding
 */
const detectPacking = (encoding: string, bytes: Uint8Array): keyof typeof unpackers | undefined => {
  switch (encoding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return undefined;
    case 'gzip':
    case 'x-gzip':
      return bytes[0] === 0x1f && bytes[1] === 0x8b ? 'gzip' : undefined;
    case 'deflate':
      if (isZlib(bytes)) return 'zlib';
      return looksUnpacked(bytes[0]) ? undefined : 'raw';
    default: {
      const msg = `should be gzip, deflate or absent, not ${encoding.slice(0, 100)}`;
      throw new ServiceError(415, [
        { loc: ['header', 'content-encoding'], msg, type: 'unsupported_media_type' },
      ]);
    }
  }
};

/** @throws ServiceError 413 */
const refuseLong = (maxBytes: number): never => {
  const msg = `should be at most ${maxBytes} bytes unpacked: lower OTEL_BSP_MAX_EXPORT_BATCH_SIZE, or send_batch_max_size of a collector`;
  throw tooLarge({ loc: ['body'], msg, type: 'too_large' });
};

/**
 * Unpacks a body.
 *
 * @param encoding the `content-encoding` header; empty if there is none
 * @param maxBytes how long it may be once it is unpacked
 * @throws ServiceError 400 if it is packed otherwise, 413 if it is too long, 415 for another
 * encoding
 */
const unpackBody = async (bytes: Uint8Array, encoding: string, maxBytes: number): Promise<Uint8Array> => {
  const packing = detectPacking(encoding, bytes);
  if (packing === undefined) return bytes.length > maxBytes ? refuseLong(maxBytes) : bytes;
  try {
    return await unpackers[packing](bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE')
      throw badBody(`is not ${encoding.trim().toLowerCase()}, as content-encoding says`, error);
    return refuseLong(maxBytes);
  }
};

/**
 * The most bytes of JSON that the resources of all spans may have together. Each call holds its
 * resource, which a request names once.
 */
const maxResourceBytes = 64 * 1024 * 1024;

/** The same with a key that only reports, which anybody can have: four times the longest body. */
const maxAddedResourceBytes = 4 * 1024 * 1024;

/**
 * Decodes a request's body.
 *
 * @param contentEncoding the `content-encoding` header; empty if there is none
 * @param maxBytes how long it may be once it is unpacked. @default - 32 MB
 * @throws ServiceError 400, 413 or 415 if it cannot be decoded
 */
type Decoder<Received> = (
  bytes: Uint8Array,
  encoding: Encoding,
  contentEncoding: string,
  maxBytes?: number,
) => Promise<Received>;

// Its calls are marked as pure, so that a bundle brings only the decoders that it uses.
const decoder =
  <Received>(
    ofProtobuf: (bytes: Uint8Array) => Received,
    ofJson: (text: string) => Received,
  ): Decoder<Received> =>
  async (bytes, encoding, contentEncoding, maxBytes = maxUnpackedBytes) => {
    const unpacked = await unpackBody(bytes, contentEncoding, maxBytes);
    return encoding === 'application/x-protobuf' ? ofProtobuf(unpacked) : ofJson(decodeUtf8(unpacked));
  };

/** Decodes the spans of a request. */
export const decodeExport = /* @__PURE__ */ decoder(decodeProtobuf, decodeJson);

/** Decodes the log records of a request. */
export const decodeLogs = /* @__PURE__ */ decoder(decodeProtobufLogs, decodeJsonLogs);

const decodeMetrics = /* @__PURE__ */ decoder(decodeProtobufMetrics, decodeJsonMetrics);

/**
 * Checks an export of metrics, of which nothing is kept.
 *
 * @param maxBytes how long it may be once it is unpacked. @default - 32 MB
 * @returns how many data points were dropped, and why
 * @throws ServiceError 400, 413 or 415 if it cannot be decoded, 400 or 403 because of its projects
 */
export const checkMetrics = async (
  bytes: Uint8Array,
  encoding: Encoding,
  contentEncoding: string,
  selection: Selection,
  maxBytes?: number,
): Promise<Rejection[]> => {
  const { resources, points } = await decodeMetrics(bytes, encoding, contentEncoding, maxBytes);
  requireProject(resources, selection);
  const reason = 'metrics are not kept: set OTEL_METRICS_EXPORTER=none';
  return points > 0 ? [{ count: points, reason, isMeant: true }] : [];
};

/** @throws ServiceError 413 if resources would take more than the rest of the request ever could */
const checkResources = (
  list: readonly Pick<ProjectRecord, 'resource' | 'scope'>[],
  maxBytes = maxResourceBytes,
): void => {
  const sizes = new Map<object, number>();
  let bytes = 0;
  for (const { resource, scope } of list) {
    for (const shared of [resource, scope.attributes]) {
      const size = sizes.get(shared) ?? JSON.stringify(nested(shared)).length;
      sizes.set(shared, size);
      bytes += size;
    }
    if (bytes <= maxBytes) continue;
    const msg = `holds resources of more than ${maxBytes} bytes, once each span has its own: shorten their attributes, or lower OTEL_BSP_MAX_EXPORT_BATCH_SIZE`;
    throw tooLarge({ loc: ['body', 'resource_spans'], msg, type: 'too_large' });
  }
};

/** How many spans or log records of a request were kept, and those that were not. */
interface Stored {
  readonly kept: number;
  readonly rejected: readonly Rejection[];
}

const handshake = 'a trace of MCP clients and servers alone, without the call of a tool, is no call';

const handshakes = (count: number): Rejection[] => (count === 0 ? [] : [{ count, reason: handshake }]);

/**
 * The spans without those of traces that are nothing but what an MCP client and its server settle
 * with each other, such as `MCP send server/discover`. They would stand among the traces of agents.
 */
const withoutHandshakes = (spans: readonly ProjectSpan[]): readonly ProjectSpan[] => {
  const left = spans.filter(({ span }) => span.parentSpanId === undefined && isMcpProtocol(span.attributes));
  if (left.length === 0) return spans;
  // Whatever is below one of them keeps it.
  const parents = new Set(spans.map(({ span }) => `${span.traceId}${span.parentSpanId}`));
  const out = new Set(left.filter(({ span }) => !parents.has(`${span.traceId}${span.spanId}`)));
  return spans.filter((received) => !out.has(received));
};

/**
 * Stores spans as calls. Those of coding agents meet their log records. When it returns, all of them
 * are durable; when it throws, some may be, and the same spans may be sent again.
 *
 * @param userId the user of the reporting key
 * @returns how many were kept, and those that are no calls, or results of evaluations that are no verdicts
 * @throws ServiceError 413 if the calls would be too large
 */
export const storeSpans = async (
  stores: VerdictStores,
  spans: readonly ProjectSpan[],
  userId: string,
  budget: RequestBudget,
): Promise<Stored> => {
  const { calls: store } = stores;
  checkResources(spans.map(({ span }) => span));
  const whose = Map.groupBy(spans, agentSpan);
  const ofPrograms = whose.get(undefined) ?? [];
  const calls = withoutHandshakes(ofPrograms);
  const ofClaude = whose.get('claude-code') ?? [];
  if (calls.length > 0) {
    const made = toCalls(calls);
    const pauses = pausesIn(made);
    const related = await withEarlierPauses(store, made, pauses, budget);
    const { reports, lacking } = await withEarlier(store, related, budget);
    const moved = await writeSpans(store, reports, userId, budget);
    await joinLater(store, lacking, budget);
    await settlePauses(store, pauses, moved, budget);
    await settleWaiting(stores, reports, userId, budget);
  }
  const tooLong = ofClaude.length > 0 ? await storeFacts(store, { spans: ofClaude }, userId, budget) : [];
  const noVerdicts = await storeResults(stores, findResults(spans), userId, budget);
  return {
    kept: calls.length + ofClaude.length,
    rejected: [
      ...tooLong,
      ...noVerdicts,
      ...spansLeftOut(whose.get('codex')?.length ?? 0),
      ...handshakes(ofPrograms.length - calls.length),
    ],
  };
};

const addedOnly =
  'this key may only report: spans of coding agents and results of evaluations take the role write';

/**
 * Stores spans as calls for a key that may only add. They neither meet other requests' spans and log records,
 * nor change what is stored: docs/decisions/0281.
 *
 * @param userId the user of the reporting key
 * @returns how many were kept, and those that take more
 * @throws ServiceError 413 if the calls would be too large
 */
export const addSpans = async (
  { calls: store }: Pick<VerdictStores, 'calls'>,
  spans: readonly ProjectSpan[],
  userId: string,
  budget: RequestBudget,
): Promise<Stored> => {
  checkResources(
    spans.map(({ span }) => span),
    maxAddedResourceBytes,
  );
  const ofPrograms = spans.filter((received) => agentSpan(received) === undefined);
  const calls = withoutHandshakes(ofPrograms);
  if (calls.length > 0) await writeCalls(store, toCalls(calls), userId, budget, { addsOnly: true });
  const left = spans.length - ofPrograms.length + findResults(ofPrograms).length;
  return {
    kept: calls.length,
    rejected: [
      ...(left > 0 ? [{ count: left, reason: addedOnly }] : []),
      ...handshakes(ofPrograms.length - calls.length),
    ],
  };
};

/**
 * Stores log records that have content of spans, are a coding agent's, or are results of evaluations.
 * All others are left out. The same records may be sent again.
 *
 * @param userId the user of the reporting key
 * @returns how many were kept, and those that could not be
 * @throws ServiceError 413 if the calls would be too large
 */
export const storeRecords = async (
  stores: VerdictStores,
  records: readonly ProjectRecord[],
  userId: string,
  budget: RequestBudget,
): Promise<Stored> => {
  const { calls: store } = stores;
  checkResources(records);
  const agents = records.filter(isOfAgent);
  const content = records.filter((record) => isContent(record) && !isOfAgent(record));
  const results = records.filter(isResult);
  const tooLong = agents.length > 0 ? await storeFacts(store, { records: agents }, userId, budget) : [];
  const rejected = content.length > 0 ? await storeContent(store, content, budget) : [];
  const noVerdicts = await storeResults(stores, results, userId, budget);
  const kept = new Set([...content, ...agents, ...results]);
  const left = records.filter((record) => !kept.has(record));
  return {
    kept: kept.size - sumCounts([...tooLong, ...rejected, ...noVerdicts]),
    rejected: [...tooLong, ...rejected, ...noVerdicts, ...leftOut(left)],
  };
};

const sumCounts = (rejected: readonly Rejection[]): number =>
  rejected.reduce((sum, { count }) => sum + count, 0);

/** Why log records are left out. Those of coding agents that say nothing of a call are meant to be. */
const leftOut = (records: readonly ProjectRecord[]): Rejection[] => {
  const ofAgents = records.filter(isFromAgent).length;
  const others = records.length;
  const unknown = others - ofAgents;
  return [
    ...(ofAgents > 0 ? [{ count: ofAgents, reason: agentsReason, isMeant: true }] : []),
    ...(unknown > 0 ? [{ count: unknown, reason: unknownReason }] : []),
  ];
};

const agentsReason = 'events of a coding agent that say nothing of a call are left out';
const unknownReason =
  'a log record is kept if it has the content of a request to a model, is an event of Claude Code or Codex, or is a gen_ai.evaluation.result: send other logs elsewhere, or set OTEL_LOGS_EXPORTER=none';
