import { isOfRows, queryCalls } from '../../../api/tools.ts';
import { toPath } from '../../../foundations/expression/index.ts';
import { parseRef } from '../../../foundations/wire/index.ts';
import { isFields, type JsonFields } from './reply.ts';

/*
 * Arguments as models write them: fields by the names that rows have, and values as text.
 */

/** Fields of calls, each with what columns of rows call it, and others do. */
const fieldNames: readonly (readonly [field: string, ...names: string[]])[] = [
  ['summary.svc.status', 'status'],
  ['summary.svc.latency_ms', 'ms', 'latency_ms', 'duration_ms'],
  ['summary.svc.waited_ms', 'waited_ms'],
  ['summary.svc.waiting', 'waiting'],
  ['summary.svc.trace_name', 'name'],
  ['summary.svc.trace_totals.error_count', 'trace_errors'],
  ['summary.svc.trace_totals.input_tokens', 'trace_tokens_in'],
  ['summary.svc.trace_totals.output_tokens', 'trace_tokens_out'],
  ['summary.svc.trace_totals.total_cost', 'trace_cost_usd'],
  ['attributes.tool.name', 'tool', 'tool_name', 'tool.name'],
  ['attributes.agent.name', 'agent', 'agent_name', 'agent.name'],
  ['attributes.user.id', 'end_user', 'user', 'user_id', 'user.id'],
  ['attributes.kind', 'kind'],
  ['attributes.release', 'release'],
  ['attributes.environment', 'environment'],
  ['attributes.source', 'source'],
  ['inputs.model', 'model'],
  ['exception', 'error', 'error_message'],
];
const fieldsByName: ReadonlyMap<string, string> = new Map(
  fieldNames.flatMap(([field, ...names]) => names.map((name) => [name, field])),
);

/** What groups of statistics have names of their own for. */
const groupNames: ReadonlySet<string> = new Set(['status', 'tool', 'agent', 'source']);

/** What is asked for by a name that no field has, and how to ask for it. */
const otherWays: readonly (readonly [RegExp, string])[] = [
  [/duration|latency|elapsed/, 'summary.svc.latency_ms has milliseconds'],
  [
    /cost|token|usage/,
    'get_stats adds up costs and tokens; of whole traces, their roots have summary.svc.trace_totals.total_cost, input_tokens and output_tokens',
  ],
  [/feedback|score|verdict|thumb|rating/, 'it is feedback.[<type>].payload.<path>'],
  [/time|date|created|timestamp/, 'it is started_at'],
  [/model/, 'get_stats tells usage by model without it; inputs.model is the model that was asked for'],
];

/** How to ask for what a name that no field has is probably about; undefined if nobody knows. */
export const otherWay = (name: string): string | undefined =>
  otherWays.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1];

/** The field that is meant by the name of a filter that there is not: `tool_names`, `statuses`. */
export const fieldOf = (name: string): string | undefined =>
  [name, name.replace(/s$/, ''), name.replace(/es$/, ''), name.replace(/_(?:name|id)s?$/, '')]
    .map((each) => fieldsByName.get(each))
    .find((field) => field !== undefined);

const toField = (path: string): string => {
  const { field, steps } = toPath(path);
  const [type, first] = steps;
  if (field !== 'feedback' || first === undefined || first === 'payload' || recordFields.has(first))
    return fieldsByName.get(path.toLowerCase()) ?? path;
  // What somebody says of a call is in the payload.
  return `feedback.[${type}].payload.${steps.slice(1).join('.')}`;
};

/** More levels than this are refused anyway. */
const maxDepth = 100;

/** An expression whose fields have the names that they have in calls. */
const withFields = (value: unknown, depth = 0): unknown => {
  if (depth > maxDepth) return value;
  if (Array.isArray(value)) return value.map((item) => withFields(item, depth + 1));
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([operator, operand]) => {
      if (operator === '$literal') return [operator, operand];
      if (operator !== '$getField' || typeof operand !== 'string')
        return [operator, withFields(operand, depth + 1)];
      return [operator, toField(operand)];
    }),
  );
};

/** What a record of feedback has beside its payload. */
const recordFields: ReadonlySet<string> = new Set([
  'id',
  'creator',
  'created_at',
  'svc_user_id',
  'feedback_type',
]);

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** A value of a type that came as a text. What cannot be one stays, and is refused. */
const fromText = (text: string, type: unknown): unknown => {
  const value = parsed(text);
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? value : text;
    case 'boolean':
      return typeof value === 'boolean' ? value : text;
    case 'object':
      return isFields(value) ? value : text;
    case 'array':
      return Array.isArray(value) ? value : text.split(',').map((item) => item.trim());
    default:
      return text;
  }
};

/** A filter whose lists of one may be that one. */
const withLists = (filter: JsonFields): JsonFields =>
  Object.fromEntries(
    Object.entries(filter).map(([name, value]) => [
      name,
      typeof value === 'string' && name.endsWith('s') ? [value] : value,
    ]),
  );

/** An id that may come as the ref of its call. */
const toId = (text: string): string => {
  const ref = parseRef(text);
  return ref?.kind === 'call' ? ref.callId : text;
};

const toSortKey = (key: unknown): unknown => {
  if (typeof key === 'string') return { field: toField(key), direction: 'desc' };
  if (!isFields(key) || typeof key.field !== 'string') return key;
  const { field, direction } = key;
  return {
    field: toField(field),
    direction: typeof direction === 'string' ? direction.toLowerCase() : direction,
  };
};

const toMetric = (metric: unknown): unknown => (typeof metric === 'string' ? { metric } : metric);

const toGroup = (name: string): string => {
  const short = name.replace(/[_.]name$/, '').toLowerCase();
  if (short === 'model') return short;
  return groupNames.has(short) ? short : toField(name);
};

const mapTexts = (value: unknown, change: (text: string) => string): unknown =>
  Array.isArray(value) ? value.map((item) => (typeof item === 'string' ? change(item) : item)) : value;

/**
 * Arguments of a tool as its schema has them, if it is clear what is meant.
 *
 * @param properties the JSON Schemas of its arguments
 */
export const toMeant = (
  tool: string,
  args: unknown,
  properties: Readonly<Record<string, { readonly type?: unknown }>>,
): unknown => {
  if (!isFields(args)) return args;
  const hasRows = tool === queryCalls.name;
  const read = (name: string, given: unknown): unknown => {
    const value = typeof given === 'string' ? fromText(given, properties[name]?.type) : given;
    switch (name) {
      case 'query':
        return withFields(value);
      case 'filter':
        return isFields(value) ? withLists(value) : value;
      case 'path':
        return typeof value === 'string' ? toField(value) : value;
      case 'call_id':
        return typeof value === 'string' ? toId(value) : value;
      case 'call_ids':
        return mapTexts(value, toId);
      case 'sort_by':
        return Array.isArray(value) ? value.map(toSortKey) : value;
      case 'call_metrics':
      case 'usage_metrics':
        return Array.isArray(value) ? value.map(toMetric) : value;
      case 'columns':
        return mapTexts(value, (column) => (hasRows && isOfRows(column) ? column : toField(column)));
      case 'group_by':
        return mapTexts(value, toGroup);
      default:
        return value;
    }
  };
  return Object.fromEntries(Object.entries(args).map(([name, given]) => [name, read(name, given)]));
};
