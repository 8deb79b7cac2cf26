import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { Judge } from '../../../api/evaluators.ts';
import {
  type RequestBudget,
  requestBudget,
  type Store,
  type Table,
} from '../../../foundations/storage/index.ts';
import {
  callRef,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  newId,
  type ProjectId,
  ServiceError,
} from '../../../foundations/wire/index.ts';
import { forward, type LookAtLimits, Recording, type UpstreamConfig } from '../../doors/inference/index.ts';
import { type CallReport, readCall, type StoredCall, writeCalls } from '../../records/calls/index.ts';
import { costOf } from '../../records/costs/index.ts';
import { createOneFeedback, existingFeedback } from '../../records/feedback/index.ts';
import {
  nanosUp,
  type Reservation,
  reserve,
  type SpendingLimit,
  SpendingLimitReached,
  settleReservation,
} from '../../records/spending.ts';
import { checkSubject } from './check.ts';
import { type Evaluators, judgeOp, type LoadedEvaluator, verdictId } from './evaluator.ts';
import type { Job } from './jobs.ts';
import { type Entry, hold, noteAsking, readSheet, type Sheet, settle } from './ledger.ts';
import { maxAnswerTokens, type Prompt, promptOf, requestOf } from './prompt.ts';
import { Subject, type SubjectSources, totalOf } from './subject.ts';
import { payloadOf, readVerdict, type Verdict } from './verdict.ts';

/** What asking judges takes. */
export interface Asking extends SubjectSources {
  /** The table of the ledger. */
  readonly ledger: Table;
  readonly inference: UpstreamConfig;
  /** What a project may spend. @default - any amount */
  readonly limits?:
    | ((projectId: ProjectId, budget: RequestBudget) => Promise<readonly SpendingLimit[]>)
    | undefined;
  /** Looks whether limits are nearly reached; it does not throw. @default - nobody is told */
  readonly nearly?: LookAtLimits | undefined;
  /** The longest that one question may take, in milliseconds. */
  readonly askMs: number;
}

/** What judging takes. */
export interface Judging extends Asking {
  readonly feedback: Store;
  readonly evaluators: Evaluators;
}

/** Whoever judges: a version of an evaluator, or one that is tried and not stored, without a digest. */
export interface Judger extends Omit<LoadedEvaluator, 'tests' | 'digest'> {
  readonly digest: string | null;
}

/** A verdict that may come at another try. */
export class NotYet extends Error {
  override readonly name: string = 'NotYet';
}

/** Somebody else is at work on the verdict, so that nothing has failed. */
class Busy extends NotYet {
  override readonly name = 'Busy';
}

/** What became of a job. */
export type Outcome =
  /** The verdict is stored; or why there is none, if an operator should look after it. */
  | { readonly kind: 'judged'; readonly verdict: Verdict; readonly failure?: string }
  /** It was stored before. */
  | { readonly kind: 'known' }
  /** There is nothing to judge any more, or nobody who would. */
  | { readonly kind: 'dropped' };

/** A verdict, and the judge's call that it comes from. */
export interface Judged {
  readonly verdict: Verdict;
  readonly judgesCall: string | null;
  /** What its judge cost just now, in dollars; null if nobody knows. @default 0 */
  readonly usd?: number | null;
  /** Whether an operator should look after it. @default false */
  readonly isFailure?: boolean;
}

const without = (error: string): Judged => ({ verdict: { value: null, error }, judgesCall: null });

/** No verdict, which has nothing to do with limits or prices that somebody has set. */
const failing = (error: string): Judged => ({ ...without(error), isFailure: true });

/** The version that judges, if it is to. Whoever asked for a verdict gets it from the version asked. */
const evaluatorOf = async (
  { evaluators }: Judging,
  { projectId, objectId, digest, isAsked }: Job,
  budget: RequestBudget,
): Promise<LoadedEvaluator | undefined> => {
  const name = { projectId, objectId };
  const [version, latest] = await Promise.all([
    evaluators.version({ ...name, version: { digest } }, budget),
    isAsked ? undefined : evaluators.version({ ...name, version: 'latest' }, budget),
  ]);
  if (isAsked || !version) return version;
  if (!latest?.evaluator.enabled) return undefined;
  // Who lowers a limit means it from now on.
  const { maxUsdPerDay } = latest.evaluator;
  return { ...version, evaluator: { ...version.evaluator, maxUsdPerDay } };
};

const refOf = ({ policy }: Store, { projectId, objectId, digest }: Judger): string | null =>
  digest === null ? null : `${policy.refScheme}${projectId}/object/${objectId}:${digest}`;

/** An answer of a judge. */
interface Answer {
  readonly reports: readonly CallReport[];
  readonly callId: string;
  /** 0 if none came. */
  readonly status: number;
  readonly output: JsonValue;
  readonly usage: JsonObject | undefined;
  /** Why no whole answer came. */
  readonly failure: ServiceError | undefined;
  /** What the call failed with; null if it is an answer. */
  readonly exception: string | null;
}

/** Asks a judge once, and gives what came as the reports of a call. */
const ask = async (
  { inference, calls, askMs }: Asking,
  loaded: Judger,
  callId: string,
  body: JsonObject & { readonly model: string },
  prompt: Prompt,
): Promise<Answer> => {
  const { projectId, evaluator } = loaded;
  const ref = refOf(calls, loaded);
  const path = '/chat/completions';
  const id = newId();
  const requestId = randomUUID();
  const attributes = {
    kind: 'model',
    ...(ref === null ? { trial: true } : { evaluator: ref }),
    judged: callRef(calls.policy, projectId, callId),
    ...(prompt.cut.length > 0 && { shortened: [...prompt.cut] }),
  };
  const recording = new Recording({
    ...{ path, body, requestId },
    call: {
      ...{ id, opName: judgeOp, attributes },
      displayName: ref === null ? `${evaluator.name} (trial)` : evaluator.name,
    },
  });
  let status = 0;
  let failure: ServiceError | undefined;
  try {
    const answer = await forward(inference, {
      ...{ path, body, received: body, headers: {}, maxMs: askMs, recording },
      gone: new AbortController().signal,
    });
    status = answer.status;
    await buffer(answer.body);
  } catch (error) {
    failure =
      error instanceof ServiceError
        ? error
        : new ServiceError(502, [
            {
              loc: ['upstream'],
              msg: `the answer broke off: ${String(error)}`,
              type: 'upstream_unreachable',
            },
          ]);
  }
  const reports = recording.reports(projectId);
  const end = reports.find((report) => report.kind === 'end')?.end;
  const usage = end?.summary.usage;
  return {
    ...{ reports, callId: id, status, failure, output: end?.output ?? null },
    exception: recording.exception,
    usage: usage !== undefined && isJsonObject(usage) ? usage : undefined,
  };
};

/** The text of a chat completion's answer. */
const answerText = (output: JsonValue): string => {
  const choices = isJsonObject(output) && Array.isArray(output.choices) ? output.choices : [];
  const [first] = choices;
  const message =
    first !== undefined && isJsonObject(first) && isJsonObject(first.message ?? null) ? first.message : null;
  const content = isJsonObject(message) ? message.content : null;
  return typeof content === 'string' ? content : '';
};

const hasTokens = (usage: JsonObject): boolean =>
  Object.values(usage).some((used) => isJsonObject(used) && used.prompt_tokens !== undefined);

type CostsOf = Awaited<ReturnType<Asking['costs']>>;

/**
 * What an answer has cost, in dollars: by the price of the model that the answer names, else of the one
 * that was asked for. Null if nobody knows.
 */
const answerCost = (
  costsOf: CostsOf,
  { model }: Judge,
  { status, usage, failure }: Answer,
): number | null => {
  // Errors of an upstream are free.
  if (status >= 400) return 0;
  if (failure || !usage || !hasTokens(usage)) return null;
  const now = Date.now() * 1000;
  const byName = costsOf(usage, now);
  if (Object.keys(byName).length > 0) return totalOf(byName);
  return totalOf(costsOf(Object.fromEntries(Object.values(usage).map((used) => [model, used])), now));
};

/** The most that an answer can cost, in dollars; undefined if the model has no price in dollars. */
const mostOf = (costsOf: CostsOf, judge: Judge, body: JsonObject): number | undefined => {
  // No text has more tokens than bytes, and the frame of a message in JSON is longer than its tokens.
  const usage = {
    prompt_tokens: Buffer.byteLength(JSON.stringify(body)),
    completion_tokens: maxAnswerTokens(judge),
  };
  const cost = costsOf({ [judge.model]: usage }, Date.now() * 1000)[judge.model];
  if (cost?.prompt_token_cost_unit !== 'USD' || cost.completion_token_cost_unit !== 'USD') return undefined;
  return costOf(cost);
};

/** Statuses of an upstream after which the same request may succeed. */
const isPassing = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** The status that the error in an answer names, as some upstreams do; that of the answer without one. */
const statusOf = ({ status, output }: Answer): number => {
  const error = isJsonObject(output) ? output.error : undefined;
  const code = isJsonObject(error) ? error.code : undefined;
  return status < 400 && typeof code === 'number' && code < 600 ? code : status;
};

/** What is said of an answer that is an error; undefined if it is none. */
const refusalOf = ({ status, exception }: Answer): string | undefined => {
  if (status >= 400) return `the upstream answered ${status}`;
  return exception === null ? undefined : `the judge's request failed: ${exception}`;
};

/** Errors of the service about upstreams that do not pass by themselves. */
const isSettled = (error: ServiceError): boolean =>
  ['no_upstream', 'model_not_found', 'upstream_redirect'].includes(error.detail[0]?.type ?? '');

/** How often a judge is asked in one invocation. */
const tries = 2;
/** What is kept back of the time to store what has come, in milliseconds. */
const storeMs = 10_000;

/** One judge at work on one verdict. */
class Session {
  readonly #judging: Asking;
  readonly #loaded: Judger;
  readonly #callId: string;
  readonly #budget: RequestBudget;
  readonly #entry: Entry;
  readonly #worker = randomUUID();
  /** As in {@link Judged}. */
  #usd: number | null = 0;

  constructor(judging: Asking, loaded: Judger, callId: string, budget: RequestBudget) {
    const { projectId, objectId, identity } = loaded;
    this.#judging = judging;
    this.#loaded = loaded;
    this.#callId = callId;
    this.#budget = budget;
    this.#entry = { projectId, objectId, identity, callId };
  }

  /**
   * Asks the judge, within the day's limit. A verdict that was paid for before is given again.
   *
   * @throws NotYet if the upstream or another invocation is busy; ServiceError 503 of storage
   */
  async run(judge: Judge, subject: Subject): Promise<Judged> {
    const judged = await this.#run(judge, subject);
    return { ...judged, usd: this.#usd };
  }

  async #run(judge: Judge, subject: Subject): Promise<Judged> {
    const { ledger, costs } = this.#judging;
    const before = await readSheet(ledger, this.#entry, this.#budget);
    if (before.verdict !== undefined) return JSON.parse(before.verdict) as Judged;
    const costsOf = await costs(this.#loaded.projectId, this.#budget);
    const prompt = await promptOf(judge, subject);
    let problem = 'the judge gave no answer of the form that was asked for';
    let withFormat = true;
    for (let tried = 0; tried < tries; tried++) {
      const body = requestOf(judge, prompt, withFormat);
      const most = mostOf(costsOf, judge, body);
      if (most === undefined)
        return without(`the model ${judge.model} has no price in dollars: set one with /cost/create`);
      const reservation = await this.#reserve(nanosUp(most));
      if ('judgesCall' in reservation) return reservation;
      const sheet = await this.#holdOrGiveBack(reservation);
      if ('judgesCall' in sheet) return sheet;
      const answer = await ask(this.#judging, this.#loaded, this.#callId, body, prompt);
      const judged = await this.#keep(judge, costsOf, sheet, reservation, answer);
      if (judged) return judged;
      const { failure } = answer;
      const refusal = refusalOf(answer);
      if (failure && isSettled(failure)) return failing(failure.message);
      if (failure || isPassing(statusOf(answer))) throw new NotYet(failure?.message ?? refusal);
      if (refusal === undefined) continue;
      problem = refusal;
      if (!withFormat) break;
      // Some upstreams refuse the form of an answer.
      withFormat = false;
    }
    return failing(problem);
  }

  /** Holds money of the project's limits, or gives the verdict that they leave too little. */
  async #reserve(amount: number): Promise<Reservation | Judged> {
    const { ledger, limits } = this.#judging;
    const ofProject = (await limits?.(this.#loaded.projectId, this.#budget)) ?? [];
    try {
      return await reserve(ledger, ofProject, amount, Date.now(), this.#budget);
    } catch (error) {
      if (error instanceof SpendingLimitReached) return without(error.message);
      throw error;
    }
  }

  /** The same of the evaluator's own limit. What the project's limits hold goes back if nobody is asked. */
  async #holdOrGiveBack(reservation: Reservation): Promise<Sheet | Judged> {
    const giveBack = () => settleReservation(this.#judging.ledger, reservation, 0, this.#budget);
    try {
      const sheet = await this.#hold(reservation.amount);
      if ('judgesCall' in sheet) await giveBack();
      return sheet;
    } catch (error) {
      if (error instanceof Busy) await giveBack();
      throw error;
    }
  }

  /** Holds money and notes that it is about to be used; or the verdict that nothing has to be asked for. */
  async #hold(amount: number): Promise<Sheet | Judged> {
    const { ledger, askMs } = this.#judging;
    const { evaluator } = this.#loaded;
    const now = Date.now();
    const wanted = {
      ...{ amount, limit: Math.floor((evaluator.maxUsdPerDay ?? 0) * 1e9), now },
      ...{ until: Math.min(this.#budget.deadline, now + askMs + storeMs), worker: this.#worker },
    };
    const holding = await hold(ledger, this.#entry, wanted, this.#budget);
    if (holding.kind === 'done') return JSON.parse(holding.verdict) as Judged;
    if (holding.kind === 'busy') throw new Busy('somebody else is at work on it');
    if (holding.kind === 'over')
      return without(`the day's limit of $${evaluator.maxUsdPerDay} leaves too little for another answer`);
    const asking = await noteAsking(ledger, this.#entry, holding.sheet, this.#budget);
    if (!asking) throw new Busy('somebody else has taken over');
    return asking;
  }

  /** Stores the judge's call and what it cost; gives the verdict if it is one. */
  async #keep(
    judge: Judge,
    costsOf: CostsOf,
    sheet: Sheet,
    reservation: Reservation,
    answer: Answer,
  ): Promise<Judged | undefined> {
    const { calls, ledger } = this.#judging;
    const { projectId, userId } = this.#loaded;
    // It has been paid for, so it gets some time of its own.
    const late = requestBudget(storeMs);
    const budget = { ...this.#budget, deadline: Math.max(this.#budget.deadline, late.deadline) };
    await writeCalls(calls, answer.reports, userId, budget, { idsAreNew: true });
    const verdict =
      !answer.failure && refusalOf(answer) === undefined
        ? readVerdict(judge.answer, answerText(answer.output))
        : undefined;
    const judged = verdict && { verdict, judgesCall: callRef(calls.policy, projectId, answer.callId) };
    const cost = answerCost(costsOf, judge, answer);
    this.#usd = this.#usd === null || cost === null ? null : this.#usd + cost;
    const spent = cost === null ? null : nanosUp(cost);
    await settleReservation(ledger, reservation, spent, budget);
    await this.#judging.nearly?.(reservation.limits, reservation.at, budget);
    const settlement = { spent, verdict: judged && JSON.stringify(judged) };
    const settled = await settle(ledger, this.#entry, sheet, settlement, budget);
    if (!settled && !judged) throw new Busy('somebody else has taken over');
    return judged;
  }
}

/**
 * Judges a call, and stores nothing but the judge's own call.
 *
 * @throws NotYet if another try may give a verdict; ServiceError 503 of storage
 */
export const judgedBy = async (
  judging: Asking,
  loaded: Judger,
  call: StoredCall,
  budget: RequestBudget,
): Promise<Judged> => {
  const { judge, check, on } = loaded.evaluator;
  const subject = new Subject(judging, call, on === 'trace', budget);
  if (judge) return new Session(judging, loaded, call.header.id, budget).run(judge, subject);
  if (!check) return failing('it has neither a judge nor a check');
  try {
    return { verdict: await checkSubject(check, subject), judgesCall: null };
  } catch (error) {
    if (error instanceof ServiceError || !(error instanceof Error)) throw error;
    return failing(error.message);
  }
};

/**
 * Does a job: judges a call, unless it was judged before, and stores the verdict as feedback. However
 * often this is done, or dies, there is one verdict.
 *
 * @param isLast whether there will be no other try, so that a verdict says why there is none
 * @throws NotYet if another try may give a verdict; ServiceError 503 when storage does not answer in
 * time
 */
export const judgeCall = async (
  judging: Judging,
  job: Job,
  isLast: boolean,
  budget: RequestBudget,
): Promise<Outcome> => {
  const { calls, feedback } = judging;
  const { projectId, callId } = job;
  const loaded = await evaluatorOf(judging, job, budget);
  if (!loaded) return { kind: 'dropped' };
  const id = verdictId(loaded, callId);
  const [call, existing] = await Promise.all([
    readCall(calls, projectId, callId, budget),
    existingFeedback(feedback, projectId, [id], budget),
  ]);
  if (existing.has(id)) return { kind: 'known' };
  if (!call?.header.end || call.header.start.opName === judgeOp) return { kind: 'dropped' };
  const { verdict, judgesCall, isFailure } = await judgedBy(judging, loaded, call, budget).catch(
    (error: unknown) => {
      if (isLast && error instanceof NotYet && !(error instanceof Busy)) return failing(error.message);
      throw error;
    },
  );
  const draft = {
    ...{ projectId, id, ref: callRef(calls.policy, projectId, callId) },
    ...{ type: `evaluation.${loaded.evaluator.name}`, payload: payloadOf(verdict), creator: null },
    ...{ annotationRef: null, runnableRef: refOf(calls, loaded), callRef: judgesCall, triggerRef: null },
  };
  try {
    await createOneFeedback(feedback, draft, loaded.userId, budget);
  } catch (error) {
    // Somebody else was quicker.
    if (error instanceof ServiceError && error.status === 409) return { kind: 'known' };
    throw error;
  }
  return { kind: 'judged', verdict, ...(isFailure && { failure: verdict.error ?? 'no verdict' }) };
};
