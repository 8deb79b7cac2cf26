import { callsQueryStatsBody } from '../../api/schemas/query.ts';
import type { Store } from '../../core/foundations/storage/index.ts';
import type { ProjectId } from '../../core/foundations/wire/index.ts';
import { parseBody } from '../../core/foundations/wire/parse-body.ts';
import { countCalls, type Lookups, queryCalls } from '../../core/questions/query/index.ts';
/**
 * What queries read beside the calls: for their extras, and for counting. It is independent of the
 * machine's speed.
 */
import { costsOf, loadDefaultPrices, priceBook, readPrices } from '../../core/records/costs/index.ts';
import { feedbackOn } from '../../core/records/feedback/index.ts';
import { createObject, resolveRefs } from '../../core/records/objects/index.ts';
import { type Bench, names } from '../harness/bench.ts';
import type { Call } from '../harness/calls.ts';
import { totalUnits } from '../harness/capacity.ts';
import { counted, type Figure } from '../harness/figures.ts';
import type { BenchPart } from '../harness/part.ts';
import { benchBudget, isOf, newestBy, sendAll, toQuery } from '../harness/reporting.ts';
import { drain } from './queries.ts';

/** The number of objects that the calls refer to, in turn, like settings of an agent. */
const objectCount = 20;

interface Project {
  readonly id: ProjectId;
  readonly calls: Store;
  readonly lookups: Lookups;
}

/**
 * Stores objects of some 500 bytes.
 *
 * @returns their refs
 */
const storeObjects = async (
  store: Parameters<typeof createObject>[0],
  projectId: ProjectId,
): Promise<string[]> => {
  const refs: string[] = [];
  for (let i = 0; i < objectCount; i++) {
    const objectId = `settings-${i}`;
    const val = { temperature: i / objectCount, prompt: 'You are a helpful agent. '.repeat(20) };
    const digest = await createObject(store, { projectId, objectId, val }, 'ada', benchBudget());
    refs.push(`svc:///${projectId}/object/${objectId}:${digest}`);
  }
  return refs;
};

/** Makes a project whose calls refer to objects, with all stores that a query may need. */
const projectOf = async (bench: Bench, calls: readonly [Call, ...Call[]]): Promise<Project> => {
  const id = calls[0].start.project_id as ProjectId;
  const [store, objects, costs, feedback] = await Promise.all([
    bench.newStore('calls'),
    bench.newStore('objects'),
    bench.newStore('costs'),
    bench.newStore('feedback'),
  ]);
  const refs = await storeObjects(objects, id);
  const referring = calls.map(({ start, end }, i) => {
    const inputs = { ...(start.inputs as object), settings: refs[i % refs.length] };
    return { start: { ...start, inputs }, end };
  });
  await sendAll(store, referring, 'together');
  const lookups: Lookups = {
    costs: async (projectId, budget) => {
      const book = priceBook(
        projectId,
        await readPrices(costs, projectId, budget),
        await loadDefaultPrices(),
      );
      return (usage, startedAt) => costsOf(usage, startedAt, book);
    },
    feedback: (projectId, callIds, budget) => feedbackOn(feedback, projectId, callIds, budget),
    objects: (of, budget) => resolveRefs(objects, of, budget),
  };
  return { id, calls: store, lookups };
};

/** The same query with one extra after the other. */
const extras: Readonly<Record<string, object>> = {
  'newest 100, names': { ...newestBy('started_at'), columns: ['op_name'] },
  'newest 100, names and sizes': {
    ...newestBy('started_at'),
    columns: ['op_name'],
    include_storage_size: true,
  },
  'newest 100, names and sizes of traces': {
    ...newestBy('started_at'),
    columns: ['op_name'],
    include_total_storage_size: true,
  },
  'newest 100, names and costs': { ...newestBy('started_at'), columns: ['op_name'], include_costs: true },
  'newest 100, a column': { ...newestBy('started_at'), columns: ['inputs.settings'] },
  'newest 100, a column expanded': {
    ...newestBy('started_at'),
    columns: ['inputs.settings'],
    expand_columns: ['inputs.settings'],
  },
};

/** The counting queries. The last one needs every payload. */
const countings = ({ start }: Call): Readonly<Record<string, object>> => ({
  'count of everything': {},
  'count and bytes of everything': { include_total_storage_size: true },
  'count of one thread': { filter: { thread_ids: [start.thread_id] } },
  'count of errors': { query: isOf('summary.svc.status', 'error') },
  'count by a field of the inputs': { query: isOf('inputs.model', 'gpt-4o') },
});

const readFigures = async (bench: Bench, name: string, task: () => Promise<unknown>): Promise<Figure[]> => {
  const { reads, requests } = await bench.capacity.during(task);
  return [
    counted(`${name}: read units`, 'units', totalUnits(reads), { of: reads }),
    counted(`${name}: requests`, 'requests', requests),
  ];
};

const statsBody = callsQueryStatsBody(names);

/** What extras and counting read over a project of these calls. */
export const extraFigures = async (bench: Bench, calls: readonly Call[]): Promise<Figure[]> => {
  const [first, ...more] = calls;
  if (!first) return [];
  const project = await projectOf(bench, [first, ...more]);
  const figures: Figure[] = [];
  for (const [name, body] of Object.entries(extras)) {
    const query = toQuery({ project_id: project.id, ...body });
    const answer = () => drain(queryCalls(project.calls, query, benchBudget(), project.lookups).calls);
    figures.push(...(await readFigures(bench, name, answer)));
  }
  for (const [name, body] of Object.entries(countings(first))) {
    const { selection } = parseBody(statsBody, JSON.stringify({ project_id: project.id, ...body }));
    const count = () => countCalls(project.calls, selection, benchBudget()).stats();
    figures.push(...(await readFigures(bench, name, count)));
  }
  return figures;
};

/** Read units and requests of extras and of `/calls/query_stats`. */
export const extrasPart: BenchPart = {
  name: 'extras',
  title: 'Extras of queries over calls, and counting them (units: DynamoDB Local)',
  run: async ({ bench, calls }) => extraFigures(await bench(), calls),
};
