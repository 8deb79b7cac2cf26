import { type CallsFilter, type CallsQuery, callKind } from '../../../api/queries.ts';
import { compile, type Expression } from '../../../foundations/expression/index.ts';
import { isJsonObject, type JsonValue } from '../../../foundations/wire/index.ts';
import { type CallHeader, getSource } from '../../records/calls/index.ts';
import type { Planned } from './plan.ts';
import type { QueriedCall } from './queried-call.ts';

/** Whether something passes; `undefined` when a filter asks for nothing. */
type Test<T> = ((value: T) => boolean) | undefined;

/** Makes the test whether a value is one of a list; undefined for no list. */
export const among = (values: readonly string[] | null): Test<string | null> => {
  if (values === null) return undefined;
  const set = new Set<string | null>(values);
  return (value) => set.has(value);
};

/** Exact texts, or prefixes where a text ends with `:*`. */
export const matchesAny = (patterns: readonly string[] | null): Test<string> => {
  if (patterns === null) return undefined;
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith(':*')));
  const prefixes = patterns
    .filter((pattern) => pattern.endsWith(':*'))
    .map((pattern) => pattern.slice(0, -1));
  return (value) => exact.has(value) || prefixes.some((prefix) => value.startsWith(prefix));
};

/** Makes the test of a header: every field of the filter that the header can decide. */
export const headerFilter = (filter: CallsFilter): ((call: CallHeader) => boolean) => {
  const on = <T>(test: Test<T>, value: (call: CallHeader) => T) =>
    test ? [(call: CallHeader) => test(value(call))] : [];
  const tests = [
    ...on(among(filter.callIds), (call) => call.id),
    ...on(among(filter.traceIds), (call) => call.start.traceId),
    ...on(among(filter.parentIds), (call) => call.start.parentId),
    ...on(among(filter.threadIds), (call) => call.start.threadId),
    ...on(among(filter.turnIds), (call) => call.start.turnId),
    ...on(among(filter.userIds), (call) => call.start.userId),
    ...on(among(filter.runIds), (call) => call.start.runId),
    ...on(among(filter.sources), (call) => getSource(call.start)),
    ...on(matchesAny(filter.opNames), (call) => call.start.opName),
    ...on(
      filter.traceRootsOnly ? (parentId: string | null) => parentId === null : undefined,
      (call) => call.start.parentId,
    ),
  ];
  return (call) => tests.every((test) => test(call));
};

/** Whether any text in a value passes a test; keys do not count. */
const holds = (value: JsonValue, test: (text: string) => boolean): boolean => {
  if (typeof value === 'string') return test(value);
  if (Array.isArray(value)) return value.some((item) => holds(item, test));
  return isJsonObject(value) && Object.values(value).some((item) => holds(item, test));
};

/** Makes the test of a payload; undefined when the filter asks nothing of it. */
export const payloadFilter = ({ inputRefs, outputRefs }: CallsFilter): Test<QueriedCall> => {
  const inputs = matchesAny(inputRefs);
  const output = matchesAny(outputRefs);
  if (!inputs && !output) return undefined;
  return (row) =>
    row.payload !== null &&
    (!inputs || holds(row.column('inputs', false), inputs)) &&
    (!output || holds(row.column('output', false), output));
};

/** The tests that a call must pass. */
export interface Tests {
  readonly onHeader: (row: QueriedCall) => boolean;
  /** What takes more than the header; undefined when nothing does. */
  readonly later: ((row: QueriedCall) => boolean) | undefined;
}

/** Makes the tests of a planned query. */
export const compileTests = (query: CallsQuery, { onHeaders, later }: Planned): Tests => {
  const kind = callKind(query.includes);
  const compiled = (expressions: readonly Expression[]) =>
    expressions.map((expression) =>
      compile<QueriedCall>(kind, expression, (path) => (row) => row.value(path)),
    );
  const header = headerFilter(query.filter);
  const payload = payloadFilter(query.filter);
  const headerTests = compiled(onHeaders);
  const laterTests = [...(payload ? [payload] : []), ...compiled(later)];
  return {
    onHeader: (row) => header(row.header) && headerTests.every((test) => test(row)),
    later: laterTests.length > 0 ? (row) => laterTests.every((test) => test(row)) : undefined,
  };
};
