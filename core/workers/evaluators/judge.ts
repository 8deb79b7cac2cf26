import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { Judge } from '../../../api/evaluators.ts';
import { judgeOp, toVerdictType } from '../../../api/shared/evaluators.ts';
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
  refScheme,
  ServiceError,
} from '../../../foundations/wire/index.ts';
import {
  candidatesFor,
  costAtMost,
  forward,
  type LookAtLimits,
  Recording,
  type UpstreamConfig,
} from '../../doors/inference/index.ts';
import { QueriedCall } from '../../questions/query/index.ts';
import { type CallReport, readCall, type StoredCall, writeCalls } from '../../records/calls/index.ts';
import { computeCosts, type LimitPrices, totalCost } from '../../records/costs/index.ts';
import { createOneFeedback, existingFeedback } from '../../records/feedback/index.ts';
import {
  type Held,
  nanosUp,
  readSpent,
  type SpendingLimit,
  SpendingLimitReached,
} from '../../records/spending.ts';
import { checkSubject } from './check.ts';
import { CheckFailed } from './check-runner.ts';
import { asLatestLets, type Evaluators, type LoadedEvaluator, verdictId } from './evaluator.ts';
import type { Job } from './jobs.ts';
import { fillPrompt, maxAnswerTokens, type Prompt, toRequest } from './prompt.ts';
import { type Entry, hold, noteAsking, type Question, readQuestion, settle } from './question.ts';
import { Subject, type SubjectSources, sumDollars } from './subject.ts';
import { readVerdict, toPayload, type Verdict } from './verdict.ts';

/** What asking judges takes. */
export interface Asking extends SubjectSources {
  /** Where it is counted what is spent, and what is known of questions. */
  readonly spending: Table;
  readonly inference: UpstreamConfig;
  /** The prices by which limits count. */
  readonly prices: (projectId: ProjectId, budget: RequestBudget) => Promise<LimitPrices>;
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

/** What an evaluator's judge may spend in a day. */
export const evaluatorLimit = ({
  projectId,
  objectId,
  evaluator,
}: Pick<Judger, 'projectId' | 'objectId' | 'evaluator'>): SpendingLimit => ({
  of: 'evaluator',
  name: objectId,
  projectId,
  period: 'day',
  usd: evaluator.maxUsdPerDay ?? 0,
});

/** Whether a call passes what an evaluator asks of its payloads; whoever decided knew its header. */
const passesPayload = ({ tests }: LoadedEvaluator, call: StoredCall): boolean =>
  !tests.later || tests.later(new QueriedCall(call.header).readAs(call));

/**
 * The version that judges, if it is to. Whoever asked for a verdict gets it from the version asked, as far
 * as the latest one lets it.
 */
const findEvaluator = async (
  { evaluators }: Judging,
  { projectId, objectId, digest, isAsked }: Job,
  budget: RequestBudget,
): Promise<LoadedEvaluator | undefined> => {
  const name = { projectId, objectId };
  const [version, latest] = await Promise.all([
    evaluators.version({ ...name, version: { digest } }, budget),
    evaluators.version({ ...name, version: 'latest' }, budget),
  ]);
  if (!version || (!isAsked && !latest?.evaluator.enabled)) return undefined;
  return asLatestLets(version, latest);
};

/**
 * Whether a job takes asking a judge, which can take minutes.
 *
 * @throws ServiceError 503 when storage does not answer in time
 */
export const asksJudge = async (
  { evaluators }: Pick<Judging, 'evaluators'>,
  { projectId, objectId, digest }: Job,
  budget: RequestBudget,
): Promise<boolean> => {
  const version = await evaluators.version({ projectId, objectId, version: { digest } }, budget);
  return Boolean(version?.evaluator.judge);
};

const toRef = ({ projectId, objectId, digest }: Judger): string | null =>
  digest === null ? null : `${refScheme}${projectId}/object/${objectId}:${digest}`;

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

const hasTokens = (usage: JsonObject): boolean =>
  Object.values(usage).some((used) => isJsonObject(used) && used.prompt_tokens !== undefined);

type ComputeCosts = Awaited<ReturnType<Asking['costs']>>;

/** What a judge's model is called: as each upstream that may be asked knows it, and as the evaluator does. */
const modelNames = ({ upstreams }: UpstreamConfig, { model }: Judge): string[] => [
  ...new Set([...candidatesFor(upstreams, model).map((candidate) => candidate.model), model]),
];

/** How the answers of a judge are priced. */
class Pricing {
  readonly #costs: ComputeCosts;
  readonly #prices: LimitPrices;
  readonly #names: readonly string[];

  constructor(costs: ComputeCosts, prices: LimitPrices, names: readonly string[]) {
    this.#costs = costs;
    this.#prices = prices;
    this.#names = names;
  }

  /** The most that an answer can cost of limits, in dollars; undefined if the model has no price in dollars. */
  most(judge: Judge, body: JsonObject): number | undefined {
    // No text has more tokens than bytes, and the frame of a message in JSON is longer than its tokens.
    const tokens = {
      prompt: Buffer.byteLength(JSON.stringify(body)),
      completion: maxAnswerTokens(judge),
    };
    // The judge may answer from any of its upstreams, and each may call it otherwise.
    const costs = this.#names.flatMap((name) => {
      const price = this.#prices([name, ...this.#names], Date.now() * 1000, tokens.prompt);
      return price ? [costAtMost(tokens, price)] : [];
    });
    return costs.length > 0 ? Math.max(...costs) : undefined;
  }

  /**
   * The usage of an answer as it is recorded. If the model that the answer names has no price, it is that
   * of the model that was asked.
   */
  recorded(usage: JsonObject): JsonObject {
    const at = Date.now() * 1000;
    const entries = Object.entries(usage).map(([answered, used]) => {
      const names = [answered, ...this.#names];
      const priced = names.find((name) => Object.keys(this.#costs({ [name]: used }, at)).length > 0);
      return [priced ?? answered, used] as const;
    });
    return Object.fromEntries(entries);
  }

  /** What an answer has cost, in dollars; null if nobody knows. */
  spent({ status, usage, failure }: Answer): {
    readonly usd: number | null;
    readonly ofLimits: number | null;
  } {
    // Errors of an upstream are free.
    if (status >= 400) return { usd: 0, ofLimits: 0 };
    if (failure || !usage || !hasTokens(usage)) return { usd: null, ofLimits: null };
    const at = Date.now() * 1000;
    const ofLimits = computeCosts(usage, at, (answered, startedAt, promptTokens) =>
      this.#prices([answered, ...this.#names], startedAt, promptTokens),
    );
    return { usd: sumDollars(this.#costs(usage, at)), ofLimits: totalCost(ofLimits) };
  }
}

/** Asks a judge once, and gives what came as the reports of a call. */
const ask = async (
  { inference, askMs }: Asking,
  loaded: Judger,
  callId: string,
  body: JsonObject & { readonly model: string },
  prompt: Prompt,
  pricing: Pricing,
): Promise<Answer> => {
  const { projectId, evaluator } = loaded;
  const ref = toRef(loaded);
  const path = '/chat/completions';
  const id = newId();
  const requestId = randomUUID();
  const attributes = {
    kind: 'model',
    source: ref === null ? 'trial' : 'judge',
    ...(ref === null ? { trial: true } : { evaluator: ref }),
    judged: callRef(projectId, callId),
    ...(prompt.cut.length > 0 && { shortened: [...prompt.cut] }),
  };
  const recording = new Recording({
    path,
    body,
    requestId,
    call: {
      id,
      opName: judgeOp,
      attributes,
      displayName: ref === null ? `${evaluator.name} (trial)` : evaluator.name,
    },
  });
  let status = 0;
  let failure: ServiceError | undefined;
  try {
    const answer = await forward(inference, {
      path,
      body,
      received: body,
      headers: {},
      maxMs: askMs,
      recording,
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
              msg: `the answer was cut off: ${String(error)}`,
              type: 'upstream_unreachable',
            },
          ]);
  }
  const reported = recording.reports(projectId);
  const end = reported.find((report) => report.kind === 'end')?.end;
  const reportedUsage = end?.summary.usage;
  const usage =
    reportedUsage !== undefined && isJsonObject(reportedUsage) ? pricing.recorded(reportedUsage) : undefined;
  const reports = reported.map((report) =>
    report.kind === 'end' && usage
      ? { ...report, end: { ...report.end, summary: { ...report.end.summary, usage } } }
      : report,
  );
  return {
    reports,
    callId: id,
    status,
    failure,
    output: end?.output ?? null,
    exception: recording.exception,
    usage,
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

/** Statuses of an upstream after which the same request may succeed. */
const isPassing = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** The status that the error in an answer names, as some upstreams do; that of the answer without one. */
const getStatus = ({ status, output }: Answer): number => {
  const error = isJsonObject(output) ? output.error : undefined;
  const code = isJsonObject(error) ? error.code : undefined;
  return status < 400 && typeof code === 'number' && code < 600 ? code : status;
};

/** What is said of an answer that is an error; undefined if it is none. */
const getRefusal = ({ status, exception }: Answer): string | undefined => {
  if (status >= 400) return `the upstream answered ${status}`;
  return exception === null ? undefined : `the judge's request failed: ${exception}`;
};

/** Errors of the service about upstreams that do not pass by themselves. */
const isSettled = (error: ServiceError): boolean =>
  error.status < 500 || ['no_upstream', 'upstream_redirect'].includes(error.detail[0]?.type ?? '');

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
    const { spending, inference } = this.#judging;
    const before = await readQuestion(spending, this.#entry, this.#budget);
    if (before.verdict !== undefined) return JSON.parse(before.verdict) as Judged;
    const pricing = await this.#pricing(modelNames(inference, judge));
    const prompt = await fillPrompt(judge, subject);
    let problem = 'the judge gave no answer of the form that was asked for';
    let withFormat = true;
    for (let tried = 0; tried < tries; tried++) {
      const body = toRequest(judge, prompt, withFormat);
      const most = pricing.most(judge, body);
      if (most === undefined)
        return without(`the model ${judge.model} has no price in dollars: set one with /cost/create`);
      const question = await this.#hold(nanosUp(most));
      if ('judgesCall' in question) return question;
      const answer = await ask(this.#judging, this.#loaded, this.#callId, body, prompt, pricing);
      const judged = await this.#keep(judge, pricing, question, answer);
      if (judged) return judged;
      const { failure } = answer;
      const refusal = getRefusal(answer);
      if (failure && isSettled(failure)) return failing(failure.message);
      if (failure || isPassing(getStatus(answer))) throw new NotYet(failure?.message ?? refusal);
      if (refusal === undefined) continue;
      problem = refusal;
      if (!withFormat) break;
      // Some upstreams refuse the form of an answer.
      withFormat = false;
    }
    return failing(problem);
  }

  async #pricing(names: readonly string[]): Promise<Pricing> {
    const { costs, prices } = this.#judging;
    const { projectId } = this.#loaded;
    const [computeCosts, limitPrices] = await Promise.all([
      costs(projectId, this.#budget),
      prices(projectId, this.#budget),
    ]);
    return new Pricing(computeCosts, limitPrices, names);
  }

  /** Holds money and notes that it is about to be used; or the verdict that nothing has to be asked for. */
  async #hold(amount: number): Promise<Question | Judged> {
    const { spending, limits, askMs } = this.#judging;
    const ofOthers = (await limits?.(this.#loaded.projectId, this.#budget)) ?? [];
    const now = Date.now();
    const holdRequest = {
      limits: [evaluatorLimit(this.#loaded), ...ofOthers],
      amount,
      at: now,
      until: Math.min(this.#budget.deadline, now + askMs + storeMs),
      worker: this.#worker,
    };
    const holding = await hold(spending, this.#entry, holdRequest, this.#budget).catch((error: unknown) => {
      if (error instanceof SpendingLimitReached) return without(error.message);
      throw error;
    });
    if ('judgesCall' in holding) return holding;
    if (holding.kind === 'done') return JSON.parse(holding.verdict) as Judged;
    if (holding.kind === 'busy') throw new Busy('somebody else is at work on it');
    const asking = await noteAsking(spending, this.#entry, holding.question, this.#budget);
    if (!asking) throw new Busy('somebody else has taken over');
    return asking;
  }

  /** Tells of the limits of others than the evaluator, if they are nearly reached. */
  async #tellNearly({ limits, at }: Held, budget: RequestBudget): Promise<void> {
    const { spending, nearly } = this.#judging;
    const ofOthers = limits.filter(({ of }) => of !== 'evaluator');
    if (nearly && ofOthers.length > 0) await nearly(await readSpent(spending, ofOthers, at, budget), budget);
  }

  /** Stores the judge's call and what it cost; gives the verdict if it is one. */
  async #keep(
    judge: Judge,
    pricing: Pricing,
    question: Question,
    answer: Answer,
  ): Promise<Judged | undefined> {
    const { calls, spending } = this.#judging;
    const { projectId, userId } = this.#loaded;
    // It has been paid for, so it gets some time of its own.
    const late = requestBudget(storeMs);
    const budget = { ...this.#budget, deadline: Math.max(this.#budget.deadline, late.deadline) };
    await writeCalls(calls, answer.reports, userId, budget, { idsAreNew: true, areJudges: true });
    const verdict =
      !answer.failure && getRefusal(answer) === undefined
        ? readVerdict(judge.answer, answerText(answer.output))
        : undefined;
    const judged = verdict && { verdict, judgesCall: callRef(projectId, answer.callId) };
    const { usd, ofLimits } = pricing.spent(answer);
    this.#usd = this.#usd === null || usd === null ? null : this.#usd + usd;
    const spent = ofLimits === null ? null : nanosUp(ofLimits);
    const settlement = { spent, verdict: judged && JSON.stringify(judged) };
    const settled = await settle(spending, this.#entry, question, settlement, budget);
    if (question.held) await this.#tellNearly(question.held, budget);
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
    if (error instanceof CheckFailed) return without(error.message);
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
  const loaded = await findEvaluator(judging, job, budget);
  if (!loaded) return { kind: 'dropped' };
  const id = verdictId(loaded, callId);
  const [call, existing] = await Promise.all([
    readCall(calls, projectId, callId, budget),
    existingFeedback(feedback, projectId, [id], budget),
  ]);
  if (existing.has(id)) return { kind: 'known' };
  if (!call?.header.end || call.header.start.isJudges) return { kind: 'dropped' };
  if (!job.isAsked && !passesPayload(loaded, call)) return { kind: 'dropped' };
  const { verdict, judgesCall, isFailure } = await judgedBy(judging, loaded, call, budget).catch(
    (error: unknown) => {
      if (isLast && error instanceof NotYet && !(error instanceof Busy)) return failing(error.message);
      throw error;
    },
  );
  const draft = {
    projectId,
    id,
    ref: callRef(projectId, callId),
    type: toVerdictType(loaded.evaluator.name),
    payload: toPayload(verdict),
    creator: null,
    annotationRef: null,
    runnableRef: toRef(loaded),
    callRef: judgesCall,
    triggerRef: null,
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
