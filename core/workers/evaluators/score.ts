import type { ScoreRequest } from '../../../api/evaluators.ts';
import {
  chunked,
  mapConcurrent,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import { invalid, parseVersionName } from '../../../foundations/wire/index.ts';
import { type CallHeader, PayloadReader, readHeaders } from '../../records/calls/index.ts';
import { existingFeedback } from '../../records/feedback/index.ts';
import {
  judgeOp,
  type LoadedEvaluator,
  type ParseEvaluator,
  readEvaluators,
  verdictId,
} from './evaluator.ts';
import { type JobQueue, sendJobs } from './jobs.ts';
import { maxAnswerTokens, promptOf } from './prompt.ts';
import { Subject, type SubjectSources, totalOf } from './subject.ts';

/** What asking for verdicts takes. */
export interface Scoring extends SubjectSources {
  readonly objects: Store;
  readonly feedback: Store;
  readonly parse: ParseEvaluator;
  /** Undefined if the settings allow no evaluators. */
  readonly queue: JobQueue | undefined;
}

/** How many calls will be judged, and about what that costs in dollars; null if nobody knows. */
export interface Scored {
  readonly calls: number;
  readonly estimatedUsd: number | null;
}

/** The setting that a deployment lacks. */
const switchedOff = () =>
  invalid({
    loc: ['body'],
    msg: 'evaluators are switched off here: the operator switches them on with the setting evaluators',
    type: 'value_error',
  });

/**
 * The evaluators that refs lead to.
 *
 * @throws ServiceError 422 for a ref into another project, or to what is no evaluator
 */
const evaluatorsOf = async (
  { objects, parse }: Scoring,
  { projectId, scorerRefs }: ScoreRequest,
  budget: RequestBudget,
): Promise<LoadedEvaluator[]> => {
  const problem = (i: number, msg: string) =>
    invalid({ loc: ['body', 'scorer_refs', String(i)], msg, type: 'value_error' });
  const addresses = scorerRefs.map((ref, i) => {
    if (ref.projectId !== projectId) throw problem(i, `should lead into the project ${projectId}`);
    return { projectId, objectId: ref.name, version: parseVersionName(ref.digest) };
  });
  const found = await readEvaluators(objects, addresses, parse, budget);
  return found.map((loaded, i) => {
    if (!loaded) throw problem(i, 'should lead to an object of class Evaluator');
    return loaded;
  });
};

/** A verdict that is to come. */
interface Wanted {
  readonly loaded: LoadedEvaluator;
  readonly header: CallHeader;
}

/** Ids are looked for so many at once. */
const idsAtOnce = 2000;

/** The verdicts that there are not yet. */
const missing = async (
  { feedback }: Scoring,
  wanted: readonly Wanted[],
  budget: RequestBudget,
): Promise<Wanted[]> => {
  const left: Wanted[] = [];
  for (const some of chunked(wanted, idsAtOnce)) {
    const idOf = ({ loaded, header }: Wanted) => verdictId(loaded, header.id);
    const [projectId] = some.map(({ loaded }) => loaded.projectId);
    if (projectId === undefined) continue;
    const known = await existingFeedback(feedback, projectId, some.map(idOf), budget);
    left.push(...some.filter((one) => !known.has(idOf(one))));
  }
  return left;
};

/** Prompts that are made to estimate a price: others are taken to cost as much on average. */
const maxEstimated = 100;
/** What a token has in bytes of usual text, and what judges usually answer, in tokens. */
const [bytesOfToken, usualAnswer] = [4, 150];
/** Prompts that are made at once. */
const concurrency = 8;

/** About what judges cost, in dollars; null if a model has no price. */
const estimated = async (
  scoring: Scoring,
  wanted: readonly Wanted[],
  budget: RequestBudget,
): Promise<number | null> => {
  const judged = wanted.filter(({ loaded }) => loaded.evaluator.judge);
  const [first] = judged;
  if (!first) return 0;
  const { projectId } = first.loaded;
  const step = Math.ceil(judged.length / maxEstimated);
  const sample = judged.filter((_, i) => i % step === 0);
  const costsOf = await scoring.costs(projectId, budget);
  const headers = [...new Set(sample.map(({ header }) => header))];
  const read = await new PayloadReader(scoring.calls, projectId, budget).read(headers);
  const byId = new Map(read.map((call) => [call.header.id, call]));
  const each = await mapConcurrent(sample, concurrency, async ({ loaded, header }) => {
    const call = byId.get(header.id);
    const { judge } = loaded.evaluator;
    if (!call || !judge) return 0;
    // A trace is not read for an estimate.
    const { messages } = await promptOf(judge, new Subject(scoring, call, false, budget));
    const usage = {
      prompt_tokens: Math.ceil(Buffer.byteLength(JSON.stringify(messages)) / bytesOfToken),
      completion_tokens: Math.min(maxAnswerTokens(judge), usualAnswer),
    };
    const costs = costsOf({ [judge.model]: usage }, Date.now() * 1000);
    return Object.keys(costs).length > 0 ? totalOf(costs) : null;
  });
  const known = each.filter((usd) => usd !== null);
  if (known.length < each.length) return null;
  return (known.reduce((sum, usd) => sum + usd, 0) / known.length) * judged.length;
};

/**
 * Has evaluators judge existing calls, whatever their filters say. What they have judged already, has
 * not ended, or is a judge's own call is passed over.
 *
 * @throws ServiceError 422 if the settings allow no evaluators, or a ref leads to none; 503 when a store
 * or the queue does not answer in time: the same request may be sent again
 */
export const scoreCalls = async (
  scoring: Scoring,
  request: ScoreRequest,
  budget: RequestBudget,
): Promise<Scored> => {
  const { queue, calls } = scoring;
  const { projectId, callIds, dryRun } = request;
  const loaded = await evaluatorsOf(scoring, request, budget);
  const headers = (await readHeaders(calls, projectId, [...new Set(callIds)], budget)).filter(
    ({ end, start }) => end && start.opName !== judgeOp,
  );
  const all = loaded.flatMap((one) => headers.map((header) => ({ loaded: one, header })));
  const wanted = await missing(scoring, all, budget);
  const estimatedUsd = await estimated(scoring, wanted, budget);
  if (!dryRun) {
    if (!queue) throw switchedOff();
    const jobs = wanted.map(({ loaded: { objectId, digest }, header }) => ({
      ...{ projectId, callId: header.id, objectId, digest, isAsked: true },
    }));
    await sendJobs(queue, jobs, budget);
  }
  return { calls: new Set(wanted.map(({ header }) => header.id)).size, estimatedUsd };
};
