import type { RequestBudget, Table } from '../../../foundations/storage/index.ts';
import { type JsonObject, plainNumber, ServiceError } from '../../../foundations/wire/index.ts';
import {
  computeCosts,
  dearestDefault,
  type LimitPrices,
  type PriceBook,
  type PriceInForce,
  totalCost,
} from '../../records/costs/index.ts';
import {
  limitText,
  type Nanos,
  nanosUp,
  nearlyShare,
  type Reservation,
  reserve,
  type SpendingLimit,
  SpendingLimitReached,
  type Spent,
  settleReservation,
} from '../../records/spending.ts';
import type { InferenceBody, InferencePath } from './request.ts';

/** Looks whether limits are nearly reached, and tells if so. */
export type LookAtLimits = (spent: readonly Spent[], budget: RequestBudget) => Promise<void>;

/** What becomes of models without a price: they are refused, or count as the dearest. */
export type Unpriced = 'refuse' | 'dearest';

/** A request that is to be paid from limits. */
export interface SpendingRequest {
  readonly path: InferencePath;
  /** The body as it goes to the upstream. */
  readonly body: InferenceBody;
  /** The upstream's name of the model. */
  readonly model: string;
  /** At least one. */
  readonly limits: readonly SpendingLimit[];
  readonly prices: LimitPrices;
  readonly unpriced: Unpriced;
  /** Looks whether limits are nearly reached; it does not throw. @default - nobody is told */
  readonly nearly?: LookAtLimits | undefined;
  /** In milliseconds since 1970. */
  readonly now: number;
}

/** What an answer may have in tokens if the request does not say. */
const usualTokens = 4096;

/** The fields that bound the tokens of an answer. */
const bounds: Readonly<Record<InferencePath, readonly string[]>> = {
  '/chat/completions': ['max_completion_tokens', 'max_tokens'],
  '/completions': ['max_tokens'],
  '/embeddings': [],
  '/responses': ['max_output_tokens'],
  '/messages': ['max_tokens'],
  '/messages/count_tokens': [],
};

const numberIn = (body: InferenceBody, name: string): number => {
  const value = plainNumber(body[name]);
  return typeof value === 'number' && value > 0 ? value : 0;
};

/** How many prompts a request has: only text completions take a list of them. */
const promptsIn = ({ prompt }: InferenceBody): number =>
  Array.isArray(prompt) && typeof plainNumber(prompt[0]) !== 'number' ? Math.max(1, prompt.length) : 1;

/**
 * The most tokens that a request of text can take. No text has more tokens than bytes, and the frame of
 * a message in JSON is longer than its tokens.
 */
export const tokensAtMost = (
  path: InferencePath,
  body: InferenceBody,
): { readonly prompt: number; readonly completion: number } => {
  const prompt = Buffer.byteLength(JSON.stringify(body));
  if (path === '/embeddings') return { prompt, completion: 0 };
  const perAnswer = Math.max(...bounds[path].map((name) => numberIn(body, name))) || usualTokens;
  const answers = Math.max(1, numberIn(body, 'n'), path === '/completions' ? numberIn(body, 'best_of') : 0);
  const prompts = path === '/completions' ? promptsIn(body) : 1;
  return { prompt, completion: perAnswer * answers * prompts };
};

/** The most that tokens can cost, in dollars, whichever of the prompt are cached. */
export const costAtMost = (
  { prompt, completion }: ReturnType<typeof tokensAtMost>,
  price: PriceInForce,
): number => {
  const promptUsd = Math.max(price.promptTokenCost, price.cacheReadTokenCost, price.cacheWriteTokenCost);
  return prompt * promptUsd + completion * price.completionTokenCost;
};

/**
 * The model whose answer can cost most, of those that may be asked one after the other. One without a
 * price goes before all others: a limit cannot hold it.
 */
export const findMostExpensive = (
  models: readonly string[],
  { path, body, prices, now }: Pick<SpendingRequest, 'path' | 'body' | 'prices' | 'now'>,
): string | undefined => {
  const tokens = tokensAtMost(path, body);
  const most = (model: string): number => {
    const price = prices([model, body.model], now * 1000, tokens.prompt);
    return price ? costAtMost(tokens, price) : Number.POSITIVE_INFINITY;
  };
  return models.toSorted((a, b) => most(b) - most(a))[0];
};

/** 422: nobody knows what the model costs. */
const withoutPrice = (model: string): ServiceError =>
  new ServiceError(422, [
    {
      loc: ['body', 'model'],
      msg: `the model ${model} has no price in dollars, which a spending limit needs: set one with /cost/create`,
      type: 'model_without_price',
    },
  ]);

const findPrice = async (
  { body, model, prices, unpriced, now }: SpendingRequest,
  promptTokens: number,
): Promise<PriceInForce> => {
  const price = prices([model, body.model], now * 1000, promptTokens);
  if (price) return price;
  if (unpriced === 'refuse') throw withoutPrice(body.model);
  return dearestDefault();
};

const hasTokens = (usage: JsonObject): boolean =>
  Object.values(usage).some((used) => typeof used === 'object' && used !== null && 'prompt_tokens' in used);

/** A request for which money is held until its answer has ended. */
export class Spending {
  readonly #table: Table;
  readonly #request: SpendingRequest;
  readonly #price: PriceInForce;
  readonly #reservation: Reservation;

  private constructor(table: Table, request: SpendingRequest, price: PriceInForce, reservation: Reservation) {
    this.#table = table;
    this.#request = request;
    this.#price = price;
    this.#reservation = reservation;
  }

  /**
   * Holds the most that a request of text can cost.
   *
   * @throws SpendingLimitReached if a limit leaves less; ServiceError 422 for a model without a
   * price
   */
  static async begin(table: Table, request: SpendingRequest, budget: RequestBudget): Promise<Spending> {
    const { path, body, limits, now } = request;
    const tokens = tokensAtMost(path, body);
    const price = await findPrice(request, tokens.prompt);
    const amount = nanosUp(costAtMost(tokens, price));
    try {
      const reservation = await reserve(table, limits, amount, now, budget);
      return new Spending(table, request, price, reservation);
    } catch (error) {
      // A limit that was lowered to what is spent already lets no request end.
      if (error instanceof SpendingLimitReached) await request.nearly?.(error.all, budget);
      throw error;
    }
  }

  /**
   * What a client is told once four fifths of a limit are spent or held; undefined before.
   */
  get warning(): string | undefined {
    const nearly = this.#reservation.spent.flatMap(({ limit, spent }) => {
      const share = spent / 1e9 / limit.usd;
      return share >= nearlyShare ? [`${Math.floor(share * 100)} % of ${limitText(limit)} is spent`] : [];
    });
    return nearly.length > 0 ? nearly.join('; ') : undefined;
  }

  /**
   * Puts what the answer has cost in the place of what was held.
   *
   * @param status undefined if no answer came
   * @param usage by model; without tokens what was held counts as spent
   */
  async end(
    { status, usage }: { readonly status: number | undefined; readonly usage: JsonObject | undefined },
    budget: RequestBudget,
  ): Promise<void> {
    const cost = this.#computeCost(status, usage);
    const spent = await settleReservation(this.#table, this.#reservation, cost, budget);
    await this.#request.nearly?.(spent, budget);
  }

  /** Gives back all that is held: nothing was sent to the upstream. */
  async giveBack(budget: RequestBudget): Promise<void> {
    await settleReservation(this.#table, this.#reservation, 0, budget);
  }

  /** By the price of the model that the answer names, else by the one that was reckoned with. */
  #computeCost(status: number | undefined, usage: JsonObject | undefined): Nanos | null {
    // Errors of an upstream are free.
    if (status !== undefined && status >= 400) return 0;
    if (!usage || !hasTokens(usage)) return null;
    const { prices, now, model, body } = this.#request;
    const findPrice: PriceBook = (answered, at, promptTokens) =>
      prices([answered, model, body.model], at, promptTokens) ?? this.#price;
    return nanosUp(totalCost(computeCosts(usage, now * 1000, findPrice)));
  }
}

/** Errors of the service about requests that no upstream got. */
const unsent: ReadonlySet<string | undefined> = new Set(['no_upstream', 'upstream_key']);

/** Whether a request that failed never reached its upstream, which then asks nothing for it. */
export const neverReached = (error: unknown): boolean => {
  if (!(error instanceof ServiceError)) return false;
  const [detail] = error.detail;
  // What is wrong with a request is found before it is sent.
  if (error.status < 500 || unsent.has(detail?.type)) return true;
  const { cause } = error;
  if (!(cause instanceof Error)) return false;
  const syscall = 'syscall' in cause ? cause.syscall : undefined;
  return (
    syscall === 'connect' || syscall === 'getaddrinfo' || cause.message.startsWith('no connection within')
  );
};
