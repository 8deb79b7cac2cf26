import { getBodySchema } from '../../api/endpoint.ts';
import { feedbackBatchCreate, feedbackQuery } from '../../api/feedback.ts';
import { feedbackStats } from '../../api/feedback-stats.ts';
import { computeFeedbackStats } from '../../core/questions/stats/index.ts';
import {
  createFeedback,
  FeedbackJoin,
  queryFeedback,
  replaceFeedback,
} from '../../core/records/feedback/index.ts';
import { World } from '../../examples/agent-traces.ts';
import { requestBudget, type Store } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { parseBody } from '../../foundations/wire/schema.ts';
import { type Bench, type BenchPart, totalUnits, unitsEach } from '../harness/bench.ts';
import { counted, type Figure } from '../harness/figures.ts';
import { benchBudget, equalsQuery, newestBy } from '../harness/reporting.ts';

/**
 * What storing feedback and joining it onto calls uses. It is independent of the machine's speed.
 */

const batchBody = getBodySchema(feedbackBatchCreate);
const project = 'acme/shop' as ProjectId;
const scheme = `svc:///${project}`;
/** Records per batch, and calls that feedback is joined onto. */
const batchSize = 200;
const callCount = 100;

const text = 'The answer is right, and says where it is from; a shorter one would have done. ';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Random characters out of 64, which hardly compress. */
const noise = (world: World, characters: number): string =>
  Array.from({ length: characters }, () => letters[world.below(letters.length)]).join('');

/**
 * Payloads as people and scorers give them, and the worst case below 600 bytes: noise with every
 * ref.
 */
const kinds = (world: World): Readonly<Record<string, () => object>> => {
  const digest = () => noise(world, 43);
  return {
    'an emoji': () => ({ payload: { emoji: '👍' } }),
    'a score and a reason': () => ({
      payload: { score: 0.8, reason: text.repeat(2) },
      creator: 'Ada',
      call_ref: `${scheme}/call/${world.newId()}`,
    }),
    '599 bytes of noise': () => ({ payload: { noise: noise(world, 587) } }),
    '599 bytes of noise and every ref': () => ({
      payload: { noise: noise(world, 587) },
      creator: 'somebody',
      annotation_ref: `${scheme}/object/quality:${digest()}`,
      runnable_ref: `${scheme}/op/judge:${digest()}`,
      call_ref: `${scheme}/call/${world.newId()}`,
      trigger_ref: `${scheme}/object/nightly:${digest()}`,
    }),
    '5,000 bytes of text': () => ({ payload: { reason: text.repeat(63).slice(0, 4986) } }),
    '5,000 bytes of noise': () => ({ payload: { noise: noise(world, 4988) } }),
  };
};

/** Feedback as a client creates it. */
const parseDrafts = (batch: readonly object[]) => parseBody(batchBody, JSON.stringify({ batch })).batch;

const create = (store: Store, batch: readonly object[]) =>
  createFeedback(
    store,
    parseDrafts(batch).map((draft, i) => ({ draft, loc: ['batch', String(i)] })),
    'ada',
    benchBudget(),
  );

const makeFeedback = (callId: string, fields: object): object => ({
  project_id: project,
  svc_ref: `${scheme}/call/${callId}`,
  feedback_type: 'reaction',
  ...fields,
});

const createdFigures = async (bench: Bench, world: World, ids: readonly string[]): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const [kind, makeFields] of Object.entries(kinds(world))) {
    const store = await bench.newStore('feedback');
    const batch = Array.from({ length: batchSize }, (_, i) =>
      makeFeedback(ids[i % ids.length] ?? '', makeFields()),
    );
    const { writes, requests } = await bench.capacity.during(() => create(store, batch));
    figures.push(
      counted(`${kind}: write units`, 'units a record', totalUnits(writes) / batchSize, {
        of: unitsEach(writes, batchSize),
      }),
      counted(`${kind}: requests`, `requests for ${batchSize}`, requests),
    );
  }
  return figures;
};

/** Records per call, by name. A query without results takes at least half a unit. */
const joins = { 'no feedback': 0, 'a record each': 1, 'ten records each': 10 } as const;

const joinedFigures = async (bench: Bench, world: World, ids: readonly string[]): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const [situation, perCall] of Object.entries(joins)) {
    const store = await bench.newStore('feedback');
    // Ids decide about shards, and so about how full pages are.
    const batch = Array.from({ length: perCall * ids.length }, (_, i) =>
      makeFeedback(ids[i % ids.length] ?? '', { id: world.newId(), payload: { score: 0.8, reason: text } }),
    );
    await create(store, batch);
    const budget = requestBudget(600_000);
    const used = await bench.capacity.during(() => new FeedbackJoin(store, project, budget).on(ids));
    const units = Math.max(totalUnits(used.reads), used.requests / 2);
    figures.push(
      counted(`joined onto ${callCount} calls, ${situation}: read units`, 'units', units),
      counted(`joined onto ${callCount} calls, ${situation}: requests`, 'requests', used.requests),
    );
  }
  return figures;
};

const replacedFigures = async (bench: Bench, callId: string): Promise<Figure[]> => {
  const store = await bench.newStore('feedback');
  const [old] = await create(store, [makeFeedback(callId, { payload: { score: 1 } })]);
  const [draft] = parseDrafts([makeFeedback(callId, { payload: { score: 2 } })]);
  if (!old || !draft) throw new Error('there is nothing to replace');
  const used = await bench.capacity.during(() =>
    replaceFeedback(store, { feedbackId: old.id, draft }, 'ada', benchBudget()),
  );
  return [
    counted('one replacement: write units', 'units', totalUnits(used.writes)),
    counted('one replacement: read units', 'units', totalUnits(used.reads)),
    counted('one replacement: requests', 'requests', used.requests),
  ];
};

const queriesOn = (callId: string): Readonly<Record<string, object>> => ({
  'newest 100': newestBy('created_at'),
  'newest 100, ids and types': {
    ...newestBy('created_at'),
    fields: ['id', 'feedback_type'],
  },
  'on one call': { query: equalsQuery('svc_ref', `${scheme}/call/${callId}`) },
  'of a type that ten records have': { query: equalsQuery('feedback_type', 'scorer') },
  'with a score of 0.5': { query: equalsQuery('payload.score', 0.5) },
  everything: {},
});

const queryBody = getBodySchema(feedbackQuery);

/** What queries read of a thousand records: ten per call, one in a hundred of another type. */
const queriedFigures = async (
  bench: Bench,
  world: World,
  ids: readonly [string, ...string[]],
): Promise<Figure[]> => {
  const store = await bench.newStore('feedback');
  const batch = Array.from({ length: 10 * callCount }, (_, i) =>
    makeFeedback(ids[i % ids.length] ?? '', {
      // A record's shard comes from its id.
      id: world.newId(),
      payload: { score: i / 1000, reason: text },
      ...(i % 100 === 0 && { feedback_type: 'scorer' }),
    }),
  );
  await create(store, batch);
  const figures: Figure[] = [];
  for (const [name, body] of Object.entries(queriesOn(ids[0]))) {
    const query = parseBody(queryBody, JSON.stringify({ project_id: project, ...body }));
    const answer = queryFeedback(store, query, benchBudget());
    const { reads, requests } = await bench.capacity.during(() => Array.fromAsync(answer.records));
    figures.push(
      counted(`queried, ${name}: read units`, 'units', totalUnits(reads), { of: reads }),
      counted(`queried, ${name}: requests`, 'requests', requests),
      counted(`queried, ${name}: sent`, 'records', answer.counts.sent),
    );
  }
  return [...figures, ...(await statisticsOf(bench, store))];
};

const sinceLastMonth = { start: new Date(Date.now() - 30 * 86_400_000).toISOString(), granularity: 86_400 };

const scoreMetric = { json_path: 'score', aggregations: ['avg', 'count'], distribution: true };

/** Statistics over a thousand records, of which one in a hundred is of another type. */
const countedBy: Readonly<Record<string, object>> = {
  'of a type with ten records, with distribution': { feedback_type: 'scorer', metrics: [scoreMetric] },
  'of all types apart, with distributions': { group_by: ['feedback_type'], metrics: [scoreMetric] },
  'records of all types apart': { group_by: ['feedback_type'] },
};

/** What statistics of feedback read, of the records that queries were counted of. */
const statisticsOf = async (bench: Bench, store: Store): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const [name, body] of Object.entries(countedBy)) {
    const request = parseBody(
      getBodySchema(feedbackStats),
      JSON.stringify({ project_id: project, ...sinceLastMonth, ...body }),
    );
    const { answer } = computeFeedbackStats(store, request, benchBudget());
    const { reads, requests } = await bench.capacity.during(answer);
    figures.push(
      counted(`statistics ${name}: read units`, 'units', totalUnits(reads), { of: reads }),
      counted(`statistics ${name}: requests`, 'requests', requests),
    );
  }
  return figures;
};

export const feedbackFigures = async (bench: Bench): Promise<Figure[]> => {
  const world = new World(1, Date.UTC(2026, 9, 1));
  const ids = Array.from({ length: callCount }, () => world.newId()) as [string, ...string[]];
  return [
    ...(await createdFigures(bench, world, ids)),
    ...(await joinedFigures(bench, world, ids)),
    ...(await replacedFigures(bench, ids[0])),
    ...(await queriedFigures(bench, world, ids)),
  ];
};

/** Units and requests of creating feedback, joining it onto calls and replacing it. */
export const feedback: BenchPart = {
  name: 'feedback',
  title: `Feedback, created in batches of ${batchSize}`,
  run: async ({ bench }) => feedbackFigures(await bench()),
};
