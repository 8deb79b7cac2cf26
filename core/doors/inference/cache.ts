import { createHash } from 'node:crypto';
import { cacheHeader, maxCacheDays } from '../../../api/shared/headers.ts';
import { pack, unpack } from '../../../foundations/encoding/index.ts';
import {
  getObject,
  getRetentionDays,
  putObject,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ProjectId,
  parseJson,
  ServiceError,
} from '../../../foundations/wire/index.ts';
import { type InferenceBody, type InferencePath, requestHeaders } from './request.ts';

const daySeconds = 86_400;
const maxTtl = maxCacheDays * daySeconds;

/**
 * How old an answer from the cache may be, and how long one is kept, in seconds.
 *
 * @param header what `x-cache-ttl` says
 * @returns undefined without the header: then nothing is looked up or kept
 * @throws ServiceError 422 if it is not a whole number of seconds up to 30 days
 */
export const parseCacheTtl = (header: string | undefined): number | undefined => {
  if (header === undefined) return undefined;
  const ttl = /^\d{1,7}$/.test(header.trim()) ? Number(header) : 0;
  if (ttl >= 1 && ttl <= maxTtl) return ttl;
  const msg = `should be a whole number of seconds from 1 to ${maxTtl}`;
  throw new ServiceError(422, [{ loc: ['header', cacheHeader], msg, type: 'value_error' }]);
};

/** A request that may be answered from the cache. */
export interface CachedRequest {
  readonly path: InferencePath;
  /** As it was received. */
  readonly body: InferenceBody;
  /** The client's headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The upstream that is asked first, and its name of the model. */
  readonly upstream: string;
  readonly model: string;
  /** The project of the request, or its key if it has none. Nobody gets the answers of another. */
  readonly owner: { readonly project: ProjectId } | { readonly keyId: string };
}

/** What decides on an answer of the headers that reach an upstream. */
const decisive = ['anthropic-beta', 'anthropic-version', 'openai-beta'];

/** The object of an answer: below its owner, the digest of all that decides on the answer. */
const objectKey = ({ path, body, headers, upstream, model, owner }: CachedRequest): string => {
  const {
    stream: _s,
    stream_options: _o,
    timeout: _t,
    extra_headers: extra,
    ...cachedFields
  } = body as JsonObject;
  const sent = requestHeaders(headers, isJsonObject(extra) ? extra : {});
  const containsText = decisive.map((name) => sent[name] ?? null);
  // Fields may come in any order, but not those of a schema: answers follow it.
  const fields = Object.keys(cachedFields)
    .sort()
    .map((name) => [name, cachedFields[name] ?? null]);
  const digest = createHash('sha256')
    .update(JSON.stringify([path, upstream, model, containsText, fields]))
    .digest('hex');
  const place = 'project' in owner ? `projects/${owner.project}` : `keys/${owner.keyId}`;
  return `answers/${place}/${digest}.zst`;
};

type CacheStore = Pick<Store, 'bucket' | 'retentionDays' | 'projectDays' | 'projects' | 'redactor'>;

/** What is kept: when it was, how long it counts, and the answer as it is without `stream`. */
interface Kept {
  readonly kept_at: number;
  readonly ttl: number;
  readonly answer: JsonObject;
}

const isKept = (value: unknown): value is JsonObject & Kept =>
  isJsonObject(value) &&
  typeof value.kept_at === 'number' &&
  typeof value.ttl === 'number' &&
  isJsonObject(value.answer);

/**
 * Looks for an answer to a request.
 *
 * @param ttl how old it may be, in seconds
 * @returns undefined if there is none
 * @throws ServiceError 503 when S3 does not answer in time
 */
export const readCachedAnswer = async (
  store: CacheStore,
  request: CachedRequest,
  ttl: number,
  budget: RequestBudget,
): Promise<JsonObject | undefined> => {
  const bytes = await getObject(store.bucket, objectKey(request), budget);
  const kept = bytes && parseJson(unpack(bytes).toString('utf8'));
  if (!isKept(kept)) return undefined;
  const ageMs = Date.now() - kept.kept_at;
  return ageMs < 1000 * Math.min(ttl, kept.ttl) ? kept.answer : undefined;
};

/** Whether redaction finds something in an answer, which is then kept nowhere. */
const isRedacted = async ({ redactor }: CacheStore, answer: JsonObject): Promise<boolean> => {
  if (!redactor) return false;
  const found = await redactor();
  try {
    return canonicalJson(found.value('output', answer)) !== canonicalJson(answer);
  } finally {
    found.forget();
  }
};

/**
 * Keeps the answer to a request, unless redaction would change it: a client gets what the model said or
 * asks the model again.
 *
 * @param ttl how long it counts, in seconds. Where records expire, it does too.
 * @throws ServiceError 503 when S3 does not answer in time
 */
export const keepAnswer = async (
  store: CacheStore,
  request: CachedRequest,
  answer: JsonObject,
  ttl: number,
  budget: RequestBudget,
): Promise<void> => {
  if (!isComplete(request.path, answer) || (await isRedacted(store, answer))) return;
  const { owner } = request;
  if ('project' in owner) await store.projects?.learnRetention([owner.project], budget);
  const days = 'project' in owner ? getRetentionDays(store, owner.project) : store.retentionDays;
  const most = (days ?? maxCacheDays) * daySeconds;
  const kept: Kept = { kept_at: Date.now(), ttl: Math.min(ttl, most), answer };
  const bytes = await pack(Buffer.from(JSON.stringify(kept)));
  await putObject(store.bucket, objectKey(request), bytes, budget);
};

const all = (list: JsonValue | undefined, test: (item: JsonObject) => boolean): boolean =>
  Array.isArray(list) && list.length > 0 && list.every((item) => isJsonObject(item) && test(item));

/** Whether an answer has come to its end. Some upstreams end a stream midway, as if that were all. */
const isComplete = (path: InferencePath, answer: JsonObject): boolean => {
  switch (path) {
    case '/chat/completions':
    case '/completions':
      return all(answer.choices, ({ finish_reason: reason }) => typeof reason === 'string');
    case '/messages':
      return typeof answer.stop_reason === 'string';
    case '/responses':
      return answer.status === 'completed';
    case '/embeddings':
      return all(answer.data, () => true);
    case '/messages/count_tokens':
      return false;
  }
};
