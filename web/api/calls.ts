import { readTokens } from '../../api/shared/usage.ts';
import { isObject, valueAt } from '../data/values.ts';
import type { Answer, Call, CallRow } from './contract.ts';

export type { CallRow };

/** The states of a call. */
export type Status = Call['summary']['svc']['status'];

/** What headers say of a call: none of it takes a payload to be read. */
export const headerColumns = [
  'display_name',
  'parent_id',
  'thread_id',
  'turn_id',
  'ended_at',
  'svc_user_id',
  'summary.svc',
  'attributes.kind',
  'attributes.tool.name',
  'attributes.agent.name',
] as const;

/** The name of an operation: that of its ref, or the name itself. */
export const opText = (op: string): string => /^[^:/]+:\/\/\/.*\/op\/([^/:]+):[^:]*$/.exec(op)?.[1] ?? op;

/** How much of a version's digest tells it from others. */
const shortDigest = 7;

/**
 * The names of operations that stand beside each other: those that share a name have their version
 * behind it.
 */
export const opTexts = (ops: Iterable<string>): ReadonlyMap<string, string> => {
  const byText = Map.groupBy(new Set(ops), opText);
  const toText = (op: string): string => {
    const text = opText(op);
    const version = op.slice(op.lastIndexOf(':') + 1, op.lastIndexOf(':') + 1 + shortDigest);
    return (byText.get(text)?.length ?? 0) > 1 && op !== text ? `${text} · ${version}` : text;
  };
  return new Map([...byText.values()].flat().map((op) => [op, toText(op)]));
};

const textAt = (call: CallRow, path: string): string | undefined => {
  const value = valueAt(call, path);
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** The tool that a call is of, by its own name: `<server>.<tool>` of MCP; undefined for none. */
export const getTool = (call: CallRow): string | undefined => textAt(call, 'attributes.tool.name');

/** The agent that a call says it is of; undefined for none. */
export const getAgent = (call: CallRow): string | undefined => textAt(call, 'attributes.agent.name');

/**
 * The name under which people know a call. Tools and agents go by their own names, whatever
 * instrumentations call their operations.
 */
export const getCallName = (call: CallRow): string => {
  const { display_name, summary, op_name } = call;
  const own = getTool(call) ?? (textAt(call, 'attributes.kind') === 'agent' ? getAgent(call) : undefined);
  return display_name ?? own ?? summary?.svc?.trace_name ?? op_name;
};

/** The state of a call. A call without a summary is taken for a success. */
export const getStatus = (call: CallRow): Status => call.summary?.svc?.status ?? 'success';

/** Amounts by their units: the sum of prices in several units is none. */
export type Cost = ReadonlyMap<string, number>;

/** Adds amounts by their units; undefined for none. An amount of 0 stays if there is no other. */
const sumCost = (amounts: readonly (readonly [unit: string, amount: number])[]): Cost | undefined => {
  const sum = new Map<string, number>();
  for (const [unit, amount] of amounts) sum.set(unit, (sum.get(unit) ?? 0) + amount);
  const paid = [...sum].filter(([, amount]) => amount !== 0);
  return sum.size === 0 ? undefined : new Map(paid.length > 0 ? paid : [...sum].slice(0, 1));
};

type Priced = Pick<
  Answer<'/calls/usage'>['call_usage'][string][string],
  | 'prompt_tokens_total_cost'
  | 'completion_tokens_total_cost'
  | 'prompt_token_cost_unit'
  | 'completion_token_cost_unit'
>;

/** What a model cost; undefined if it has no price. */
export const getCost = (priced: Priced): Cost | undefined => {
  const { prompt_tokens_total_cost: input, completion_tokens_total_cost: output } = priced;
  return sumCost([
    ...(input === undefined ? [] : [[priced.prompt_token_cost_unit ?? 'USD', input] as const]),
    ...(output === undefined ? [] : [[priced.completion_token_cost_unit ?? 'USD', output] as const]),
  ]);
};

/** Tokens and cost of one or more models. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly total: number;
  /** Those of the input that came from the provider's cache. */
  readonly cached: number;
  /** Those of the output that were reasoning. */
  readonly reasoning: number;
  /** In the units of the prices; undefined if no model has a price. */
  readonly cost: Cost | undefined;
}

/** Usage by model, as the call reported it, with the costs that the service knows. */
export const usageByModel = ({ summary }: CallRow): ReadonlyMap<string, Usage> => {
  const usage = isObject(summary?.usage) ? summary.usage : {};
  const costs = summary?.svc?.costs ?? {};
  const models = new Set([...Object.keys(usage), ...Object.keys(costs)]);
  return new Map(
    [...models].map((model) => {
      const cost = Object.hasOwn(costs, model) ? costs[model] : undefined;
      const own = Object.hasOwn(usage, model) ? usage[model] : cost;
      const tokens = readTokens(isObject(own) ? own : {});
      const { prompt: input, completion: output, total, cacheRead: cached, reasoning } = tokens;
      return [model, { input, output, total, cached, reasoning, cost: cost && getCost(cost) }];
    }),
  );
};

/** The sum of usages; undefined for none. */
export const sumUsage = (usages: Iterable<Usage>): Usage | undefined => {
  const all = [...usages];
  const sum = (name: Exclude<keyof Usage, 'cost'>) => all.reduce((sum, usage) => sum + usage[name], 0);
  if (all.length === 0) return undefined;
  return {
    input: sum('input'),
    output: sum('output'),
    total: sum('total'),
    cached: sum('cached'),
    reasoning: sum('reasoning'),
    cost: sumCost(all.flatMap(({ cost }) => [...(cost ?? [])])),
  };
};

/** How long a call took, in ms; NaN while it runs. */
export const getDuration = ({ started_at, ended_at }: Pick<CallRow, 'started_at' | 'ended_at'>): number =>
  parseTime(ended_at) - parseTime(started_at);

/**
 * For how many ms a call waited for a person; true if it still does, or if nobody knows for how long;
 * undefined if it did not.
 */
export const getWait = ({ summary }: CallRow): number | true | undefined =>
  summary?.svc?.waiting ? true : summary?.svc?.waited_ms || undefined;

/** How long a time is that has microseconds: `2026-10-01T12:00:00.000000Z`. */
const withMicros = 27;

/** Milliseconds since 1970, with their fraction; NaN for no time. */
export const parseTime = (time: string | null | undefined): number =>
  // Browsers leave out what comes after the third digit.
  Date.parse(time ?? '') + (time?.length === withMicros ? Number(time.slice(23, 26)) / 1000 : 0);
