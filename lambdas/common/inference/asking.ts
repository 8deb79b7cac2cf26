import type { InferenceBody } from '../../../api/inference.ts';
import {
  type CachedRequest,
  candidatesFor,
  countRequest,
  findMostExpensive,
  getEndUser,
  type InferencePath,
  keepAnswer,
  type RateLimit,
  type Recording,
  readCachedAnswer,
  Spending,
} from '../../../core/doors/inference/index.ts';
import { writeCalls } from '../../../core/records/calls/index.ts';
import { type LimitPrices, readLimitPrices } from '../../../core/records/costs/index.ts';
import type { Caller } from '../../../foundations/auth/index.ts';
import { Memory } from '../../../foundations/memory.ts';
import { dynamodbClient, type RequestBudget, requestBudget } from '../../../foundations/storage/index.ts';
import {
  findProblem,
  invalidAt,
  type JsonObject,
  maxDepth,
  type ProjectId,
} from '../../../foundations/wire/index.ts';
import { keyLimits, projectLimits, unpriced } from '../http/limits.ts';
import { nearly } from '../http/nearly-reached.ts';
import { stores } from '../http/stores.ts';
import { inference } from './upstreams.ts';

/*
 * What every function needs that asks upstreams for callers: how much a caller may ask, and what
 * becomes of what was asked.
 */

const { INFERENCE_RATE, RATES_TABLE } = process.env;

/** How many requests a key may make; undefined for any number. */
const rateLimit: RateLimit | undefined =
  INFERENCE_RATE && RATES_TABLE
    ? { table: { client: dynamodbClient(), name: RATES_TABLE }, perMinute: Number(INFERENCE_RATE) }
    : undefined;

/** The part of the function's time that is kept back to record a long answer, in milliseconds. */
export const recordMs = 15_000;
/** A count that takes longer costs more than it protects from, in milliseconds. */
const countMs = 2000;
/** The same of a look into the cache: without it the request goes on. */
const cacheMs = 2000;
/** The same of what holds money: requests of one key or project wait for each other. */
const holdMs = 10_000;
/** How long prices are remembered, in milliseconds. */
const pricesMs = 60_000;

const remembered = new Memory<LimitPrices>(pricesMs);

/**
 * The prices by which limits count. If none of the names has one, they are read anew: whoever was refused
 * for that has set one by now.
 */
const readPrices = async (
  project: ProjectId | undefined,
  names: readonly string[],
  budget: RequestBudget,
): Promise<LimitPrices> => {
  const key = project ?? '';
  const read = () => readLimitPrices(stores.costs, project, budget);
  const prices = await remembered.get(key, read);
  if (project === undefined || prices(names, Date.now() * 1000, 0)) return prices;
  remembered.forget(key);
  return remembered.get(key, read);
};

/**
 * Counts a request of a key, if there is a rate limit.
 *
 * @throws ServiceError 429 above the rate; 503 if the count takes too long
 */
export const countCaller = async ({ keyId }: Pick<Caller, 'keyId'>, budget: RequestBudget): Promise<void> => {
  if (rateLimit) await countRequest(rateLimit, keyId, { ...budget, ...within(countMs) });
};

const within = (millis: number) => ({ deadline: requestBudget(millis).deadline });

/** What is asked of an upstream, and who pays. */
interface Asked {
  readonly path: InferencePath;
  /** As it goes to the upstream. */
  readonly body: InferenceBody;
  readonly caller: Caller;
  /** The project that the request is of; undefined for none. */
  readonly project: ProjectId | undefined;
}

/**
 * Holds what a request may cost, if key or project have limits.
 *
 * @returns undefined if nothing limits it, or no upstream takes its model
 * @throws SpendingLimitReached, and ServiceErrors, as {@link Spending.begin}
 */
export const holdCost = async (
  { path, body, caller, project }: Asked,
  unhurried: RequestBudget,
): Promise<Spending | undefined> => {
  if (unpriced === undefined) return undefined;
  const budget = { ...unhurried, ...within(holdMs) };
  const limits = [
    ...keyLimits(caller),
    ...(project === undefined ? [] : await projectLimits(project, budget, getEndUser(body))),
  ];
  const models = candidatesFor(inference.upstreams, body.model).map((candidate) => candidate.model);
  if (limits.length === 0 || models.length === 0) return undefined;
  const prices = await readPrices(project, [...models, body.model], budget);
  const spending = { limits, prices, unpriced, nearly, now: Date.now() };
  // Whichever of them answers, what is held suffices.
  const model = findMostExpensive(models, { path, body, ...spending }) ?? body.model;
  return Spending.begin(stores.bookkeeping, { path, body, model, ...spending }, budget);
};

/** A request whose answer may be one that was kept, and is kept itself. */
export interface Caching {
  readonly request: CachedRequest;
  /** How long an answer counts, in seconds. */
  readonly ttl: number;
}

/**
 * The answer to a request that was kept, if there is one.
 *
 * @param fail takes what went wrong, which counts as no answer
 */
export const lookUp = async (
  { request, ttl }: Caching,
  budget: RequestBudget,
  fail: (error: unknown) => void,
): Promise<JsonObject | undefined> => {
  try {
    return await readCachedAnswer(stores.calls, request, ttl, { ...budget, ...within(cacheMs) });
  } catch (error) {
    fail(error);
    return undefined;
  }
};

/**
 * Refuses a body that cannot be written again as it is.
 *
 * @param depth how deep in the request it lies
 * @throws ServiceError 422
 */
export const requireKeepable = (body: unknown, loc: readonly string[], depth: number): void => {
  const problem = findProblem(body, maxDepth - 1 - depth);
  if (problem) throw invalidAt(loc, `holds what cannot be passed on: ${problem}`);
};

/** A request whose answer has ended. */
export interface Answered {
  readonly recording: Recording;
  readonly spending: Spending | undefined;
  /** Whether it never reached its upstream. */
  readonly isUnsent: boolean;
  /** The project to store a call in; undefined for none. */
  readonly project: ProjectId | undefined;
  readonly user: string;
  /** What the answer is kept for. @default - it is not kept */
  readonly caching?: Caching | undefined;
}

/**
 * Puts what an answer has cost in the place of what was held, stores the call, and keeps the answer.
 *
 * @returns whether there is a call now, and why one or the other failed
 */
export const conclude = async (
  { recording, spending, isUnsent, project, user, caching }: Answered,
  budget: RequestBudget,
): Promise<{ readonly isStored: boolean; readonly problems: readonly unknown[] }> => {
  const settle = async () => {
    if (isUnsent) await spending?.giveBack(budget);
    else await spending?.end(recording.answer, budget);
  };
  const store = async () => {
    if (project === undefined) return;
    await writeCalls(stores.calls, recording.reports(project), user, budget, { idsAreNew: true });
  };
  const keep = async () => {
    const { whole } = recording;
    if (caching && whole) await keepAnswer(stores.calls, caching.request, whole, caching.ttl, budget);
  };
  const results = await Promise.allSettled([settle(), store(), keep()]);
  return {
    isStored: project !== undefined && results[1].status === 'fulfilled',
    problems: results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])),
  };
};
