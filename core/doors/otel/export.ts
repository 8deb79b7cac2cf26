import { promisify } from 'node:util';
import { gunzip, inflate, inflateRaw } from 'node:zlib';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import { ServiceError, tooLarge } from '../../../foundations/wire/index.ts';
import { writeCalls } from '../../records/calls/index.ts';
import { callsOfAgents, isOfAgent } from './agents.ts';
import type { Encoding } from './answer.ts';
import { callsOf, type ProjectSpan } from './calls.ts';
import { decodeJson, decodeJsonLogs, resourcesOfJson } from './decode/json.ts';
import { decodeProtobuf, decodeProtobufLogs, resourcesOfProtobuf } from './decode/protobuf.ts';
import { badBody, type Rejection } from './decode/spans.ts';
import { isContent, joinLater, storeContent, withEarlier } from './joining.ts';
import { pausesIn, settlePauses, withEarlierPauses } from './pauses.ts';
import { type ProjectRecord, requireProject, type Selection } from './projects.ts';
import { nested } from './values.ts';

/** The most bytes of an unpacked body. zlib stops there, before it unfolds more. */
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
const packingOf = (encoding: string, bytes: Uint8Array): keyof typeof unpackers | undefined => {
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

/**
 * Unpacks a body of at most 32 MB.
 *
 * @param encoding the `content-encoding` header; empty if there is none
 * @throws ServiceError 400 if it is packed otherwise, 413 if it is too long, 415 for another
 * encoding
 */
const unpackBody = async (bytes: Uint8Array, encoding: string): Promise<Uint8Array> => {
  const packing = packingOf(encoding, bytes);
  if (packing === undefined) return bytes;
  try {
    return await unpackers[packing](bytes, { maxOutputLength: maxUnpackedBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE')
      throw badBody(`is not ${encoding.trim().toLowerCase()}, as content-encoding says`, error);
    const msg = `should be at most ${maxUnpackedBytes} bytes unpacked: lower OTEL_BSP_MAX_EXPORT_BATCH_SIZE, or send_batch_max_size of a collector`;
    throw tooLarge({ loc: ['body'], msg, type: 'too_large' });
  }
};

/**
 * The most bytes of JSON that the resources of all spans may have together. Each call holds its
 * resource, which a request names once.
 */
const maxResourceBytes = 64 * 1024 * 1024;

const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('utf8');

/**
 * Decodes a request's body.
 *
 * @param contentEncoding the `content-encoding` header; empty if there is none
 * @throws ServiceError 400, 413 or 415 if it cannot be decoded
 */
type Decoder<Received> = (
  bytes: Uint8Array,
  encoding: Encoding,
  contentEncoding: string,
) => Promise<Received>;

// Its calls are marked as pure, so that a bundle brings only the decoders that it uses.
const decoder =
  <Received>(
    ofProtobuf: (bytes: Uint8Array) => Received,
    ofJson: (text: string) => Received,
  ): Decoder<Received> =>
  async (bytes, encoding, contentEncoding) => {
    const unpacked = await unpackBody(bytes, contentEncoding);
    return encoding === 'application/x-protobuf' ? ofProtobuf(unpacked) : ofJson(textOf(unpacked));
  };

/** Decodes the spans of a request. */
export const decodeExport = /* @__PURE__ */ decoder(decodeProtobuf, decodeJson);

/** Decodes the log records of a request. */
export const decodeLogs = /* @__PURE__ */ decoder(decodeProtobufLogs, decodeJsonLogs);

const decodeMetrics = /* @__PURE__ */ decoder(resourcesOfProtobuf, (text) =>
  resourcesOfJson(text, 'resourceMetrics'),
);

/**
 * Checks an export of metrics, of which nothing is kept.
 *
 * @throws ServiceError 400, 413 or 415 if it cannot be decoded, 400 or 403 because of its projects
 */
export const checkMetrics = async (
  bytes: Uint8Array,
  encoding: Encoding,
  contentEncoding: string,
  selection: Selection,
): Promise<void> => {
  requireProject(await decodeMetrics(bytes, encoding, contentEncoding), selection);
};

/** @throws ServiceError 413 if resources would take more than the rest of the request ever could */
const checkResources = (list: readonly Pick<ProjectRecord, 'resource' | 'scope'>[]): void => {
  const sizes = new Map<object, number>();
  let bytes = 0;
  for (const { resource, scope } of list) {
    for (const shared of [resource, scope.attributes]) {
      const size = sizes.get(shared) ?? JSON.stringify(nested(shared)).length;
      sizes.set(shared, size);
      bytes += size;
    }
    if (bytes <= maxResourceBytes) continue;
    const msg = `holds resources of more than ${maxResourceBytes} bytes, once each span has its own: shorten their attributes, or lower OTEL_BSP_MAX_EXPORT_BATCH_SIZE`;
    throw tooLarge({ loc: ['body', 'resource_spans'], msg, type: 'too_large' });
  }
};

/**
 * Stores spans as calls. When it returns, all of them are durable; when it throws, some may be, and
 * the same spans may be sent again.
 *
 * @param userId the user of the reporting key
 * @throws ServiceError 413 if the calls would be too large
 */
export const storeSpans = async (
  store: Store,
  spans: readonly ProjectSpan[],
  userId: string,
  budget: RequestBudget,
): Promise<void> => {
  checkResources(spans.map(({ span }) => span));
  const made = callsOf(spans);
  const pauses = pausesIn(made);
  const related = await withEarlierPauses(store, made, pauses, budget);
  const { reports, lacking } = await withEarlier(store, related, budget);
  await writeCalls(store, reports, userId, budget);
  await joinLater(store, lacking, budget);
  await settlePauses(store, pauses, budget);
};

/**
 * Stores log records that have content of spans, or are a coding agent's. All others are passed
 * over. The same records may be sent again.
 *
 * @param userId the user of the reporting key
 * @returns how many were kept, and those that could not be
 * @throws ServiceError 413 if the calls would be too large
 */
export const storeRecords = async (
  store: Store,
  records: readonly ProjectRecord[],
  userId: string,
  budget: RequestBudget,
): Promise<{ readonly kept: number; readonly rejected: readonly Rejection[] }> => {
  checkResources(records);
  const content = records.filter(isContent);
  const agents = records.filter(isOfAgent);
  const calls = callsOfAgents(agents);
  if (calls.length > 0) await writeCalls(store, calls, userId, budget);
  const rejected = content.length > 0 ? await storeContent(store, content, budget) : [];
  return { kept: content.length + agents.length, rejected };
};
