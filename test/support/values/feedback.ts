import { randomBytes } from 'node:crypto';
import { paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { getBodySchema } from '../../../api/endpoint.ts';
import {
  type CreatedFeedback,
  feedbackBatchCreate,
  feedbackPurge,
  feedbackQuery,
  feedbackReplace,
} from '../../../api/feedback.ts';
import {
  createFeedback,
  purgeFeedback,
  queryFeedback,
  replaceFeedback,
} from '../../../core/records/feedback/index.ts';
import { requestBudget, type Store, scanTable } from '../../../foundations/storage/index.ts';
import { type JsonObject, ServiceError } from '../../../foundations/wire/index.ts';
import { parseBody } from '../../../foundations/wire/schema.ts';
import { createStores, getStore } from '../service/stores.ts';
import { project } from './calls.ts';

/** A feedback store of its own for one test file. */
export const createFeedbackStore = async (changes: Partial<Store> = {}): Promise<Store> => {
  const stores = await createStores('feedback');
  return { ...getStore(stores, stores.feedbackTable), ...changes };
};

/** The ref of a call of the tests' project. */
export const callRef = (callId: string, owner: string = project): string => `svc:///${owner}/call/${callId}`;

/** Feedback as a client sends it. */
export const makeFeedback = (fields: object = {}): JsonObject => ({
  project_id: project,
  svc_ref: callRef('c'),
  feedback_type: 'note',
  payload: { text: 'good' },
  ...fields,
});

const batchBody = getBodySchema(feedbackBatchCreate);
const replaceBody = getBodySchema(feedbackReplace);
const queryBody = getBodySchema(feedbackQuery);
const purgeBody = getBodySchema(feedbackPurge);

/** What is answered to a creation, on the wire. */
export interface Created {
  readonly id: string;
  readonly created_at: string;
  readonly svc_user_id: string;
  readonly payload: JsonObject;
}

const onWire = (answers: readonly CreatedFeedback[]): Created[] =>
  JSON.parse(JSON.stringify(answers)) as Created[];

/** Sends a batch, through the schema of its endpoint. */
export const createAll = async (
  store: Store,
  batch: readonly object[],
  { user = 'ada', spent = requestBudget(60_000), addsOnly = false } = {},
): Promise<Created[]> => {
  const drafts = parseBody(batchBody, JSON.stringify({ batch })).batch;
  const creations = drafts.map((draft, i) => ({ draft, loc: ['batch', String(i)] }));
  return onWire(await createFeedback(store, creations, user, spent, { addsOnly }));
};

/** Creates one record of the tests' project. */
export const create = async (store: Store, fields: object = {}, options = {}): Promise<Created> => {
  const [created] = await createAll(store, [makeFeedback(fields)], options);
  if (!created) throw new Error('nothing was answered');
  return created;
};

/** Puts a record in the place of another. */
export const replace = async (store: Store, feedbackId: string, fields: object = {}): Promise<Created> => {
  const body = JSON.stringify({ ...makeFeedback(fields), feedback_id: feedbackId });
  const { feedbackId: replaced, ...draft } = parseBody(replaceBody, body);
  const replacement = { feedbackId: replaced, draft };
  const [created] = onWire([await replaceFeedback(store, replacement, 'bob', requestBudget(60_000))]);
  if (!created) throw new Error('nothing was answered');
  return created;
};

/** The query of a purge by ids. */
export const byIds = (ids: readonly string[]) => ({
  $expr: { $or: ids.map((id) => ({ $eq: [{ $getField: 'id' }, { $literal: id }] })) },
});

/** Purges records of the tests' project. */
export const purge = async (store: Store, ...ids: string[]): Promise<void> => {
  const body = JSON.stringify({ project_id: project, query: byIds(ids) });
  const { projectId, ids: purged } = parseBody(purgeBody, body);
  await purgeFeedback(store, projectId, purged, requestBudget(60_000));
};

/** Answers a query in full, through the schema of its endpoint, parsed. */
export const ask = async (
  store: Store,
  body: object = {},
  spent = requestBudget(60_000),
): Promise<JsonObject[]> => {
  const query = parseBody(queryBody, JSON.stringify({ project_id: project, ...body }));
  const batches = await Array.fromAsync(queryFeedback(store, query, spent).records);
  return batches.flat().map((text) => JSON.parse(text) as JsonObject);
};

/** `{"$expr": {"$eq": [field, value]}}` */
export const whereEqual = (field: string, value: unknown) => ({
  $expr: { $eq: [{ $getField: field }, { $literal: value }] },
});

/** The status and the places of what something is refused with; undefined where it is not. */
export const refusal = async (
  work: Promise<unknown>,
): Promise<{ status: number; loc: string[]; msg: string } | undefined> => {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { loc = [], msg = '' } = error.detail[0] ?? {};
    return { status: error.status, loc: [...loc], msg };
  }
};

/** A payload of about so many bytes of JSON that do not repeat themselves. */
export const noise = (bytes: number): JsonObject => ({
  noise: randomBytes(Math.ceil((bytes * 3) / 4))
    .toString('base64')
    .slice(0, bytes),
});

/** How many items, and which objects, a store holds. */
export const everythingIn = async ({ table, bucket }: Store) => {
  let items = 0;
  for await (const page of scanTable(table)) items += page.length;
  const objects: string[] = [];
  const client = await bucket.client;
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: bucket.name }))
    for (const { Key } of Contents) if (Key?.startsWith('feedback/')) objects.push(Key);
  return { items, objects };
};
