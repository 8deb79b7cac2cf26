import { countedText } from '../../data/format.ts';
import { isObject, typedText, valueAt } from '../../data/values.ts';
import {
  type Condition,
  feedbackFilters,
  needsValue,
  type Operator,
  type OtherSource,
  otherSources,
  sourceTexts,
  type TracesSearch,
} from '../../navigation/search.ts';
import { filterOf, toOperation, toOperations, toSources } from '../list/request.ts';

/*
 * Which calls an object of the project is about, such as a queue: its `filter` and `query`, as the
 * state that the filters of the list have, and back.
 */

/** What the list can be filtered by that does not move with time. */
type Filters = Pick<TracesSearch, 'all' | 'status' | 'text' | 'where' | 'feedback' | 'source'>;

/** Which calls an object is about. */
export interface KeptFilter extends Filters {
  /** Operations of the query that the filters have no words for: they stay as they are. */
  readonly others: readonly unknown[];
  /** The same of fields of the filter. */
  readonly rest: Readonly<Record<string, unknown>>;
}

/** The fields of an object, as the service takes them. */
export interface Kept {
  readonly filter?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: { readonly $expr: unknown } | undefined;
}

/** How many calls were chosen one by one; undefined for a filter by other things. */
export const chosenCount = ({ rest: { call_ids: ids } }: KeptFilter): number | undefined =>
  Array.isArray(ids) ? ids.length : undefined;

/** The calls that were chosen one by one, whatever they are. */
export const chosenCalls = (ids: readonly string[]): KeptFilter => ({
  all: true,
  source: 'all',
  others: [],
  rest: { call_ids: ids },
});

/** All traces of production. */
export const everyTrace: KeptFilter = { others: [], rest: {} };

/** What calls are filtered by, besides whether they are roots, in words: `production`, `2 filters`. */
export const keptTexts = ({ source, status, text, where = [], others, rest }: KeptFilter): string[] => {
  const filters = where.length + others.length + Object.keys(rest).length + (status ? 1 : 0) + (text ? 1 : 0);
  return [
    sourceTexts[source ?? 'production'].toLowerCase(),
    ...(filters > 0 ? [countedText(filters, 'filter')] : []),
  ];
};

/** A filter as an object has it. */
export const toKept = ({ others, rest, ...filters }: KeptFilter): Kept => {
  const operations = [...toOperations({ project: '', ...filters }, 0), ...others];
  const filter = {
    ...rest,
    ...(!filters.all && { trace_roots_only: true }),
    // What was made elsewhere names its sources itself.
    ...(!('sources' in rest) && toSources(filters.source)),
  };
  return {
    ...filterOf(filter),
    ...(operations.length > 0 && { query: { $expr: { $and: operations } } }),
  };
};

/** Where operations that the filters write have their field and their value. */
const shapes: readonly (readonly [op: Operator, field: string, value: string])[] = [
  ['is missing', '$eq.0.$getField', ''],
  ['is', '$eq.0.$getField', '$eq.1.$literal'],
  ['is not', '$not.0.$eq.0.$getField', '$not.0.$eq.1.$literal'],
  ['contains', '$contains.input.$convert.input.$getField', '$contains.substr.$literal'],
  ['contains', '$or.0.$contains.input.$convert.input.$getField', '$or.0.$contains.substr.$literal'],
  ['above', '$gt.0.$getField', '$gt.1.$literal'],
  ['below', '$lt.0.$getField', '$lt.1.$literal'],
  ['exists', '$ne.0.$getField', ''],
];

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const conditionIn = (operation: unknown): Condition | undefined => {
  for (const [op, field, place] of shapes) {
    const path = valueAt(operation, field);
    if (typeof path !== 'string') continue;
    const value = needsValue(op) ? valueAt(operation, place) : '';
    const isTyped = typeof value === 'string' && op !== 'contains' && needsValue(op);
    const text = isTyped ? typedText(value) : typeof value === 'string' ? value : JSON.stringify(value);
    const condition = { path, op, value: text };
    if (isSame(toOperation(condition), operation)) return condition;
  }
  return undefined;
};

/** What an operation is among the filters; undefined if they have no words for it. */
const filterIn = (operation: unknown): Filters | undefined => {
  const condition = conditionIn(operation);
  const text = ['$or.0.$contains', '$or.0.$or.0.$contains']
    .map((place) => valueAt(operation, `${place}.substr.$literal`))
    .find((found) => typeof found === 'string');
  const states = valueAt(operation, '$in.1');
  const status = Array.isArray(states) ? states.flatMap(({ $literal }) => $literal ?? []) : [];
  const candidates: Filters[] = [
    ...feedbackFilters.map((feedback) => ({ feedback })),
    ...(condition ? [{ where: [condition] }] : []),
    ...(typeof text === 'string' ? [{ text }] : []),
    ...(status.length > 0 ? [{ status }] : []),
  ];
  return candidates.find((filters) => isSame(toOperations({ project: '', ...filters }, 0), [operation]));
};

/** The choice that sources of a filter are; undefined if there is no such choice. One without any is of all. */
const sourceIn = (sources: unknown): OtherSource | 'production' | undefined => {
  if (sources === undefined || sources === null) return 'all';
  const [only, ...more] = Array.isArray(sources) ? sources : [];
  return more.length === 0 && only !== 'all'
    ? [...otherSources, 'production' as const].find((source) => source === only)
    : undefined;
};

/** The filter that an object has. */
export const toFilter = ({ filter, query }: Kept): KeptFilter => {
  const { trace_roots_only: roots, sources, ...others } = filter ?? {};
  const source = sourceIn(sources);
  const rest = source === undefined ? { ...others, sources } : others;
  const expression = query?.$expr;
  const all = isObject(expression) && Array.isArray(expression.$and) ? expression.$and : [expression];
  let kept: KeptFilter = {
    ...(roots !== true && { all: true }),
    ...(source !== undefined && source !== 'production' && { source }),
    others: [],
    rest,
  };
  for (const operation of expression === undefined ? [] : all) {
    const found = filterIn(operation);
    const { where = [] } = kept;
    const name = found && Object.keys(found).find((key) => key !== 'where');
    // Only one of each has a place among the filters.
    if (!found || (name && name in kept)) kept = { ...kept, others: [...kept.others, operation] };
    else kept = { ...kept, ...found, ...(found.where && { where: [...where, ...found.where] }) };
  }
  return kept;
};
