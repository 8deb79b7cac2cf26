import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import { tooLarge } from '../../foundations/wire/index.ts';
import { writeCalls } from '../../records/calls/index.ts';
import type { Encoding } from './answer.ts';
import { callsOf, type PlacedSpan } from './calls.ts';
import { decodeJson } from './decode/json.ts';
import { decodeProtobuf } from './decode/protobuf.ts';
import type { ReceivedExport } from './decode/received.ts';
import { unpackBody } from './decode/unpack.ts';
import { nested } from './nested.ts';

/**
 * The most bytes of JSON that the resources of all spans may have together. Each call holds its
 * resource, which a request names once.
 */
const maxResourceBytes = 64 * 1024 * 1024;

/**
 * Decodes a request's body.
 *
 * @param contentEncoding the `content-encoding` header; empty if there is none
 * @throws ServiceError 400, 413 or 415 if it cannot be decoded
 */
export const decodeExport = async (
  bytes: Uint8Array,
  encoding: Encoding,
  contentEncoding: string,
): Promise<ReceivedExport> => {
  const unpacked = await unpackBody(bytes, contentEncoding);
  if (encoding === 'application/x-protobuf') return decodeProtobuf(unpacked);
  return decodeJson(Buffer.from(unpacked.buffer, unpacked.byteOffset, unpacked.byteLength).toString('utf8'));
};

/** @throws ServiceError 413 if resources would take more than the rest of the request ever could */
const checkResources = (spans: readonly PlacedSpan[]): void => {
  const sizes = new Map<object, number>();
  let bytes = 0;
  for (const { span } of spans) {
    for (const shared of [span.resource, span.scope.attributes]) {
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
 * @throws ServiceError 413 if the calls would be too large, 503 when storage does not accept them
 * in time
 */
export const storeSpans = async (
  store: Store,
  spans: readonly PlacedSpan[],
  userId: string,
  budget: RequestBudget,
): Promise<void> => {
  checkResources(spans);
  await writeCalls(store, callsOf(spans), userId, budget);
};
