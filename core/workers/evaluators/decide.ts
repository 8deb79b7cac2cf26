import { mapConcurrent, type RequestBudget, type Store } from '../../../foundations/storage/index.ts';
import type { Micros } from '../../../foundations/wire/index.ts';
import { QueriedCall } from '../../questions/query/index.ts';
import type { CallHeader } from '../../records/calls/index.ts';
import { endedCalls } from '../events/ended.ts';
import {
  type CallChange,
  type DeadLetterQueue,
  type ItemChange,
  isolateRecords,
  type StreamRecord,
  sendDeadLetters,
  toCallChange,
  toChange,
} from '../streams.ts';
import { type Evaluators, isSampled, type LoadedEvaluator } from './evaluator.ts';
import { type Job, type JobQueue, madeAt, sendJobs } from './jobs.ts';
import { type Share, Shares } from './shares.ts';

/** What deciding takes: where calls and evaluators are, and where jobs go. */
export interface Watch {
  readonly calls: Store;
  readonly evaluators: Evaluators;
  readonly queue: JobQueue;
  readonly deadLetters: DeadLetterQueue;
  /** What each project may take of a batch. @default - usualShare */
  readonly share?: Share;
}

/** A change of a call, and the evaluators that may want the call. */
interface Wanted {
  readonly change: CallChange;
  readonly by: readonly LoadedEvaluator[];
}

/** How many projects are looked up at once. */
const concurrency = 8;

/** The changes that some evaluator may want, by its sample alone. Of others nothing is unpacked. */
const wantedChanges = async (
  { evaluators }: Watch,
  changes: readonly ItemChange[],
  shares: Shares,
  budget: RequestBudget,
): Promise<Wanted[]> => {
  const byProject = Map.groupBy(changes, ({ projectId }) => projectId);
  const wanted = await mapConcurrent([...byProject], concurrency, async ([projectId, some]) => {
    const enabled = await evaluators.enabledIn(projectId, budget);
    if (enabled.length === 0) return [];
    return some.flatMap((change): Wanted[] => {
      const ofCall = toCallChange(change);
      if (!ofCall) return [];
      const by = shares.sample(projectId, () =>
        enabled.filter((evaluator) => isSampled(evaluator, ofCall.id)),
      );
      return by.length > 0 ? [{ change: ofCall, by }] : [];
    });
  });
  return wanted.flat();
};

/** A call that an evaluator wants as far as its header shows. */
interface Candidate {
  readonly evaluator: LoadedEvaluator;
  readonly row: QueriedCall;
}

const isOver = ({ evaluator: { on } }: LoadedEvaluator, { start }: CallHeader): boolean =>
  on === 'call' || start.parentId === null;

/**
 * How long the verdict on a trace waits, in seconds: the last calls below its root may be reported a
 * little after it, and indexes lag.
 */
const traceDelaySeconds = 5;

const toJob = ({ evaluator: { projectId, objectId, digest, evaluator }, row }: Candidate): Job => ({
  projectId,
  callId: row.header.id,
  objectId,
  digest,
  isAsked: false,
  ...(evaluator.on === 'trace' && { delaySeconds: traceDelaySeconds }),
});

/**
 * The jobs that records make, each once. Filters and queries decide as far as headers show. What they
 * ask of payloads is decided where a call is judged: here all projects share the time and the memory.
 */
const findJobs = async (
  watch: Watch,
  changes: readonly ItemChange[],
  shares: Shares,
  budget: RequestBudget,
): Promise<Job[]> => {
  const { calls } = watch;
  const changesToJudge = await wantedChanges(watch, changes, shares, budget);
  const by = new Map(changesToJudge.map(({ change, by }) => [change, by]));
  const ended = await endedCalls(calls, [...by.keys()], budget);
  const candidates = ended.flatMap(({ change, header }): readonly Candidate[] => {
    if (header.start.isJudges) return [];
    const row = new QueriedCall(header);
    return shares.decide(header.projectId, () =>
      (by.get(change) ?? []).flatMap((evaluator) =>
        isOver(evaluator, header) && evaluator.tests.onHeader(row) ? { evaluator, row } : [],
      ),
    );
  });
  const jobs = candidates.map(toJob);
  const name = ({ projectId, callId, objectId }: Job) => [projectId, callId, objectId].join('\n');
  return [...new Map(jobs.map((job) => [name(job), job])).values()];
};

/** When the queue of a watch was made. What ended before is not judged. */
const beginnings = new WeakMap<Watch, Promise<Micros>>();

const findBeginning = (watch: Watch, budget: RequestBudget): Promise<Micros> => {
  const known = beginnings.get(watch);
  if (known) return known;
  const asked = madeAt(watch.queue, budget);
  beginnings.set(watch, asked);
  asked.catch(() => beginnings.delete(watch));
  return asked;
};

/**
 * Decides which calls of a batch of records evaluators are to judge, and puts them into the queue. A
 * record that cannot be read goes to the dead letters, and so does a note of calls for which a project's
 * share of the batch did not do.
 *
 * @returns how many verdicts are to come
 * @throws ServiceError 503 when a store or the queue does not answer in time: the batch may come again
 * as it is
 */
export const decide = async (
  watch: Watch,
  records: readonly StreamRecord[],
  budget: RequestBudget,
): Promise<number> => {
  const from = await findBeginning(watch, budget);
  const shares = new Shares(watch.share);
  const { results: jobs, letters } = await isolateRecords(records, (some) => {
    const changes = some.map(toChange);
    return findJobs(
      watch,
      changes.filter(({ table, at }) => table === watch.calls.table.name && at >= from),
      shares,
      budget,
    );
  });
  await sendJobs(watch.queue, jobs, budget);
  await sendDeadLetters(watch.deadLetters, [...letters, ...shares.letters()], budget);
  return jobs.length;
};
