import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Context } from 'aws-lambda';
import { issuesUpdate } from '../../api/issues.ts';
import {
  type PromptChoice,
  promptCreate,
  promptLabelsSet,
  promptRead,
  promptsQuery,
} from '../../api/prompts.ts';
import { createPrompt, movePromptLabel, queryPrompts, readPrompt } from '../../core/records/prompts.ts';
import { everyAnswer, jsonText } from '../common/http/answer.ts';
import {
  type Head,
  overStream,
  type RawAnswer,
  raw,
  type StreamEvent,
  streaming,
} from '../common/http/endpoint.ts';
import { getHeader } from '../common/http/headers.ts';
import { movingLabels } from '../common/http/label-moves.ts';
import { compress, contentCoding } from '../common/http/negotiate.ts';
import { middlewares, type Translate } from '../common/http/request.ts';
import { stores } from '../common/http/stores.ts';
import { handler as decideOnIssue } from './issues/update.ts';

/*
 * The endpoints of prompts, and the one that decides on issues. One function answers all of them, since a stack has no
 * room for one each: they make versions of objects.
 */

const create = streaming(promptCreate, (request) =>
  movingLabels(request, (mover) => createPrompt(stores.objects, request.body, mover, request.budget)),
);

const read = streaming(promptRead, ({ body, budget }) =>
  readPrompt(stores.objects, body, { consistent: true, at: 'body' }, budget),
);

const moveLabel = streaming(promptLabelsSet, async (request) => {
  const { label, versionIndex, ...name } = request.body;
  await movingLabels(request, (mover) =>
    movePromptLabel(stores.objects, name, label, versionIndex, mover, request.budget),
  );
  return {};
});

const query = streaming(promptsQuery, async ({ body, budget, describe }) => {
  const found = await queryPrompts(stores.objects, body, budget);
  describe(() => ({ rows: found.prompts.length }));
  return found;
});

/** How long a client may keep a prompt, and use it while it asks again: docs/decisions/0303. */
const cacheControl = 'private, max-age=60, stale-while-revalidate=86400';

/** A weak entity tag, as an answer is the same however it is compressed. */
const toEtag = (text: string): string => `W/"${createHash('sha256').update(text).digest('base64url')}"`;

/** Whether a client has an answer already. */
const isKnown = (event: StreamEvent<unknown>, etag: string): boolean => {
  const known = getHeader(event, 'if-none-match')?.trim() ?? '';
  return known === '*' || known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag.slice(2));
};

/** An index, which stands as text in the query of a GET, as a number. */
const withIndex = (fields: unknown): unknown => {
  const { version_index: index } = fields as { readonly version_index?: unknown };
  return typeof index === 'string' && /^\d{1,10}$/.test(index)
    ? { ...(fields as object), version_index: Number(index) }
    : fields;
};

const translate: Translate<PromptChoice> = (fields, parse) => parse(withIndex(fields));
const readByGet = { ...promptRead, translate };

/** A prompt for clients that keep what they read. */
const get = raw(middlewares<PromptChoice>(readByGet), async (event): Promise<RawAnswer> => {
  const { body, budget, id } = event.service;
  const prompt = await readPrompt(stores.objects, body, { consistent: false, at: 'query' }, budget);
  const text = jsonText(prompt);
  const etag = toEtag(text);
  const status = isKnown(event, etag) ? 304 : 200;
  const isEmpty = status === 304 || event.httpMethod === 'HEAD';
  const coding = contentCoding(event);
  const bytes = isEmpty ? 0 : Buffer.byteLength(text);
  event.log.describes(() => ({ status, rows: 1, bytes }));
  event.log.ends('answered');
  return {
    statusCode: status,
    headers: {
      ...everyAnswer(id),
      etag,
      'cache-control': cacheControl,
      vary: 'authorization, accept-encoding',
      ...(status === 200 && { 'content-type': 'application/json' }),
      ...(!isEmpty && coding && { 'content-encoding': coding }),
    },
    body: Readable.from(isEmpty ? [] : [coding ? compress[coding](text) : text], { objectMode: false }),
  };
});

type Answerer = (event: StreamEvent<unknown>, context: Context) => Promise<Head>;

const posts = {
  [promptCreate.path]: create,
  [promptRead.path]: read,
  [promptLabelsSet.path]: moveLabel,
  [promptsQuery.path]: query,
  [issuesUpdate.path]: streaming(decideOnIssue.description, decideOnIssue.handle),
} as Readonly<Record<string, Answerer>>;

/** All these requests. The gateway lets no others through. */
export const handler = overStream<unknown>((event, context) => {
  const answer = event.httpMethod === 'POST' ? posts[event.resource] : (get as Answerer);
  if (!answer) throw new Error(`no endpoint here is ${event.resource}`);
  return answer(event, context);
});
