import type { Evaluator, ScoreRequest } from '../../../api/evaluators.ts';
import { evaluatorClass } from '../../../api/shared/classes.ts';
import { allows, type Caller } from '../../../foundations/auth/index.ts';
import {
  chunked,
  mapConcurrent,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import {
  forbidden,
  invalid,
  invalidAt,
  type JsonObject,
  newId,
  type ProjectId,
  parseVersionName,
} from '../../../foundations/wire/index.ts';
import { type CallHeader, PayloadReader, readHeaders } from '../../records/calls/index.ts';
import { existingFeedback } from '../../records/feedback/index.ts';
import { readSpent } from '../../records/spending.ts';
import {
  asLatestLets,
  type LoadedEvaluator,
  type ParseEvaluator,
  readEvaluators,
  verdictId,
} from './evaluator.ts';
import { type JobQueue, sendJobs } from './jobs.ts';
import { type Asking, evaluatorLimit, type Judged, type Judger, judgedBy, NotYet } from './judge.ts';
import { fillPrompt, maxAnswerTokens } from './prompt.ts';
import { Subject, type SubjectSources, sumDollars } from './subject.ts';

/** What asking for verdicts takes. */
export interface Scoring extends SubjectSources {
  readonly objects: Store;
  readonly feedback: Store;
  readonly parse: ParseEvaluator;
  /** Checks the value of an evaluator. Throws a ServiceError 422 that names each wrong place. */
  readonly check: (value: JsonObject) => Promise<void>;
  /** Where evaluations wait, and what asking judges takes; undefined without the setting. */
  readonly evaluations: { readonly queue: JobQueue; readonly asking: Asking } | undefined;
}

/** What an evaluator that is tried says of a call. */
export interface Tried extends Judged {
  readonly callId: string;
}

/** What became of a request to judge calls. */
export interface Scored {
  /** How many calls will be judged, or were. */
  readonly calls: number;
  /** About what that costs in dollars; null if nobody knows. */
  readonly estimatedUsd: number | null;
  /** What each of the evaluators has spent of the day, in dollars; none without the setting. */
  readonly spentTodayUsd: readonly number[];
  /** Of an evaluator that is tried, in the order of the calls. */
  readonly tried: readonly Tried[];
}

/** The setting that a deployment lacks. */
const switchedOff = () =>
  invalidAt(
    ['body'],
    'evaluators are off in this service: an operator turns them on with the setting evaluators',
  );

/**
 * The evaluators that refs lead to.
 *
 * @throws ServiceError 422 for a ref into another project, to what is no evaluator, or to a judge that is
 * switched off, unless the price alone is asked for
 */
const findEvaluators = async (
  { objects, parse }: Scoring,
  { projectId, scorerRefs, dryRun }: ScoreRequest,
  budget: RequestBudget,
): Promise<LoadedEvaluator[]> => {
  const problem = (i: number, msg: string) => invalidAt(['body', 'scorer_refs', String(i)], msg);
  const addresses = (scorerRefs ?? []).map((ref, i) => {
    if (ref.projectId !== projectId) throw problem(i, `should lead into the project ${projectId}`);
    return { projectId, objectId: ref.name, version: parseVersionName(ref.digest) };
  });
  const latestOnes = addresses.map((address) => ({ ...address, version: 'latest' as const }));
  const [found, latest] = await Promise.all([
    readEvaluators(objects, addresses, parse, budget),
    readEvaluators(objects, latestOnes, parse, budget),
  ]);
  return found.map((loaded, i) => {
    if (!loaded) throw problem(i, 'should lead to an object of class Evaluator');
    const allowed = asLatestLets(loaded, latest[i]);
    if (!allowed && !dryRun)
      throw problem(
        i,
        `the latest version of ${loaded.objectId} is off or has no judge, which also applies to its earlier versions: save one with "enabled": true`,
      );
    return allowed ?? loaded;
  });
};

/** A verdict that is to come. */
interface Wanted<By = LoadedEvaluator> {
  readonly loaded: By;
  readonly header: CallHeader;
}

/** Ids are looked for so many at once. */
const idsAtOnce = 2000;

/** The verdicts that there are not yet. */
const missing = async (
  { feedback }: Scoring,
  jobs: readonly Wanted[],
  budget: RequestBudget,
): Promise<Wanted[]> => {
  const left: Wanted[] = [];
  for (const some of chunked(jobs, idsAtOnce)) {
    const toVerdictId = ({ loaded, header }: Wanted) => verdictId(loaded, header.id);
    const [projectId] = some.map(({ loaded }) => loaded.projectId);
    if (projectId === undefined) continue;
    const known = await existingFeedback(feedback, projectId, some.map(toVerdictId), budget);
    left.push(...some.filter((one) => !known.has(toVerdictId(one))));
  }
  return left;
};

/** Prompts that are made to estimate a price: others are taken to cost as much on average. */
const maxEstimated = 100;
/** What a token has in bytes of usual text, and what judges usually answer, in tokens. */
const bytesOfToken = 4;
const usualAnswer = 150;
/** Prompts that are made at once. */
const concurrency = 8;

/** About what judges cost, in dollars; null if a model has no price. */
const estimated = async (
  scoring: Scoring,
  jobs: readonly Wanted<Judger>[],
  budget: RequestBudget,
): Promise<number | null> => {
  const judged = jobs.filter(({ loaded }) => loaded.evaluator.judge);
  const [first] = judged;
  if (!first) return 0;
  const { projectId } = first.loaded;
  const step = Math.ceil(judged.length / maxEstimated);
  const sample = judged.filter((_, i) => i % step === 0);
  const computeCosts = await scoring.costs(projectId, budget);
  const headers = [...new Set(sample.map(({ header }) => header))];
  const read = await new PayloadReader(scoring.calls, projectId, budget).read(headers);
  const byId = new Map(read.map((call) => [call.header.id, call]));
  const estimates = await mapConcurrent(sample, concurrency, async ({ loaded, header }) => {
    const call = byId.get(header.id);
    const { judge } = loaded.evaluator;
    if (!call || !judge) return 0;
    // A trace is not read for an estimate.
    const { messages } = await fillPrompt(judge, new Subject(scoring, call, false, budget));
    const usage = {
      prompt_tokens: Math.ceil(Buffer.byteLength(JSON.stringify(messages)) / bytesOfToken),
      completion_tokens: Math.min(maxAnswerTokens(judge), usualAnswer),
    };
    const costs = computeCosts({ [judge.model]: usage }, Date.now() * 1000);
    return Object.keys(costs).length > 0 ? sumDollars(costs) : null;
  });
  const known = estimates.filter((usd) => usd !== null);
  if (known.length < estimates.length) return null;
  return (known.reduce((sum, usd) => sum + usd, 0) / known.length) * judged.length;
};

/** The calls that can be judged: those that have ended and are no judge's own, in the order of their ids. */
const judgeable = async (
  calls: Store,
  projectId: ProjectId,
  callIds: readonly string[],
  budget: RequestBudget,
): Promise<CallHeader[]> => {
  const found = await readHeaders(calls, projectId, [...new Set(callIds)], budget);
  return found.filter(({ end, start }) => end && !start.isJudges);
};

const spentToday = async (
  table: Asking['spending'],
  evaluators: readonly LoadedEvaluator[],
  budget: RequestBudget,
): Promise<number[]> => {
  const all = await readSpent(table, evaluators.map(evaluatorLimit), Date.now(), budget);
  return all.map(({ spent }) => spent / 1e9);
};

/** The most calls of a trial: its answer waits for their judges. */
const maxTried = 10;

/** The evaluator of a trial. Throws a ServiceError 422 if the request is none for a trial. */
const triedBy = async (
  { check, parse }: Scoring,
  { callIds, scorerRefs, dryRun }: ScoreRequest,
  value: JsonObject,
): Promise<Evaluator> => {
  const problem = (field: string, msg: string) => invalidAt(['body', field], msg);
  if (scorerRefs && scorerRefs.length > 0)
    throw problem('evaluator', 'should not be combined with scorer_refs: it is tried on its own');
  if (!dryRun && callIds.length > maxTried)
    throw problem('call_ids', `should be at most ${maxTried} calls to try an evaluator`);
  await check(value);
  const evaluator = parse(value);
  if (!evaluator) throw problem('evaluator', `should have "_type": "${evaluatorClass}"`);
  return evaluator;
};

/**
 * Has an evaluator that is not stored judge calls at once. No verdict is stored, but its judge's calls
 * are. They have a day's limit of their own.
 *
 * @throws ServiceError 403 for a judge without the role `admin`; 422 if the settings allow no
 * evaluators, unless the price alone is asked for
 */
const tryCalls = async (
  scoring: Scoring,
  request: ScoreRequest,
  value: JsonObject,
  { grants, user }: Pick<Caller, 'grants' | 'user'>,
  budget: RequestBudget,
): Promise<Scored> => {
  const { calls, evaluations } = scoring;
  const { projectId, callIds, dryRun } = request;
  const evaluator = await triedBy(scoring, request, value);
  if (evaluator.judge && !dryRun && !allows(grants, projectId, 'admin'))
    throw forbidden(
      ['body', 'evaluator'],
      `it takes the role admin to try an Evaluator with a judge, which this key does not have in ${projectId}`,
    );
  if (!dryRun && !evaluations) throw switchedOff();
  // Of a name that no object has, since nothing was spent under it yet.
  const loaded = {
    projectId,
    evaluator,
    userId: user,
    objectId: `trial ${newId()}`,
    digest: null,
    identity: '',
  };
  const headers = await judgeable(calls, projectId, callIds, budget);
  const wanted = headers.map((header) => ({ loaded, header }));
  const estimatedUsd = await estimated(scoring, wanted, budget);
  const priced = { calls: headers.length, estimatedUsd, spentTodayUsd: [] };
  if (dryRun || !evaluations) return { ...priced, tried: [] };
  const read = await new PayloadReader(calls, projectId, budget).read(headers);
  const tried = await mapConcurrent(read, concurrency, async (call): Promise<Tried> => {
    const callId = call.header.id;
    try {
      return { callId, ...(await judgedBy(evaluations.asking, loaded, call, budget)) };
    } catch (error) {
      if (!(error instanceof NotYet)) throw error;
      return { callId, verdict: { value: null, error: error.message }, judgesCall: null, usd: null };
    }
  });
  return { ...priced, tried };
};

/**
 * Has evaluators judge existing calls, whatever their filters say. What they have judged already, has
 * not ended, or is a judge's own call is passed over. One that is not stored is tried.
 *
 * @throws ServiceError 403 if the caller may not try the evaluator; 422 if the settings allow no
 * evaluators, or a ref leads to none; 503 when a store or the queue does not answer in time: the same
 * request may be sent again
 */
export const scoreCalls = async (
  scoring: Scoring,
  request: ScoreRequest,
  caller: Pick<Caller, 'grants' | 'user'>,
  budget: RequestBudget,
): Promise<Scored> => {
  const { evaluations, calls } = scoring;
  const { projectId, callIds, evaluator, dryRun } = request;
  if (evaluator) return tryCalls(scoring, request, evaluator, caller, budget);
  if (!request.scorerRefs)
    throw invalid({
      loc: ['body', 'scorer_refs'],
      msg: 'is required, without an evaluator to try',
      type: 'missing',
    });
  const loaded = await findEvaluators(scoring, request, budget);
  const headers = await judgeable(calls, projectId, callIds, budget);
  const all = loaded.flatMap((one) => headers.map((header) => ({ loaded: one, header })));
  const wanted = await missing(scoring, all, budget);
  const estimatedUsd = await estimated(scoring, wanted, budget);
  if (!dryRun) {
    if (!evaluations) throw switchedOff();
    const jobs = wanted.map(({ loaded: { objectId, digest }, header }) => ({
      projectId,
      callId: header.id,
      objectId,
      digest,
      isAsked: true,
    }));
    await sendJobs(evaluations.queue, jobs, budget);
  }
  return {
    calls: new Set(wanted.map(({ header }) => header.id)).size,
    estimatedUsd,
    spentTodayUsd: evaluations ? await spentToday(evaluations.asking.spending, loaded, budget) : [],
    tried: [],
  };
};
