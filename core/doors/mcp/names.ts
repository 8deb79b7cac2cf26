import { type CallsFilter, everyCall } from '../../../api/queries.ts';
import { isHeaderPath } from '../../../api/shared/header-fields.ts';
import type { GroupField } from '../../../api/stats.ts';
import { compare, type Expression, type FieldPath, pathsIn } from '../../../foundations/expression/index.ts';
import {
  asString,
  invalidAt,
  type JsonValue,
  notFound,
  type ProjectId,
  parseRef,
  serviceName,
  storedRef,
} from '../../../foundations/wire/index.ts';
import { queryProjects } from '../../records/projects.ts';
import { type Call, maxGroups, newestFirst, readCalls, readStats, wholeRange } from './calls.ts';
import type { ToolContext } from './context.ts';
import { describeTypes, sampleFeedback } from './fields.ts';
import { didYouMean, quoted } from './mend.ts';
import { type Asked, checkIds, nearMisses } from './near.ts';
import { type Range, within } from './range.ts';
import { valueIn } from './values.ts';

/*
 * Whether there is what a request names, so that nothing found means that there is nothing: operations,
 * users, models, agents, tools, types of feedback, fields, and the project itself.
 */

/** How many names an error lists. */
const maxListed = 12;

/** Reads no further than this for what statistics have not. */
const sampled = 100;

const bounded = ({ start, end }: Range, { now }: ToolContext) => ({
  start: start ?? 0,
  end: end ?? now + 60e6,
});

/** The values of a field in a range, the commonest first. Null stands for the rarest of very many. */
export const countNames = async (
  context: ToolContext,
  projectId: ProjectId,
  range: Range,
  field: GroupField | 'model',
): Promise<readonly (readonly [string | null, number])[]> => {
  const isModel = field === 'model';
  const { call_buckets, usage_buckets } = await readStats(context, {
    projectId,
    ...bounded(range, context),
    granularity: wholeRange,
    timezone: 'UTC',
    filter: everyCall,
    where: null,
    groupBy: isModel ? [] : [field],
    groupByFeedback: null,
    calls: isModel ? [] : [{ metric: 'call_count', aggregations: ['sum'], percentiles: [] }],
    usage: isModel ? [{ metric: 'total_tokens', aggregations: ['count'], percentiles: [] }] : [],
  });
  const rows = isModel ? usage_buckets : call_buckets;
  const nameOf = (row: (typeof rows)[number]): string | null => {
    const value = isModel ? row.model : row[field === 'user' ? 'svc_user_id' : field];
    return value === null || value === undefined
      ? null
      : typeof value === 'string'
        ? value
        : JSON.stringify(value);
  };
  return rows
    .map((row) => [nameOf(row), Number(row.sum_call_count ?? row.count_total_tokens ?? 0)] as const)
    .sort(([, a], [, b]) => b - a);
};

/** The name of an operation without its version. */
const shortOp = (op: string): string => {
  const ref = parseRef(op);
  return ref && ref.kind !== 'call' ? ref.name : op;
};

const listed = (names: readonly string[]): string =>
  names.length === 0
    ? ''
    : `; there are ${names
        .slice(0, maxListed)
        .map(quoted)
        .join(', ')}${names.length > maxListed ? ` and ${names.length - maxListed} more` : ''}`;

/** What was probably meant by a name that there is not, or those that there are. */
export const suggested = (name: string, known: readonly string[]): string =>
  didYouMean(name, known) || listed(known);

/** The operations that a name means: itself, every version of it, or the same in other letters. */
const opsNamed = (name: string, ops: readonly string[]): readonly string[] => {
  const every = name.endsWith(':*') ? name.slice(0, -2) : undefined;
  const bare = every ?? name;
  const ways: ((op: string) => boolean)[] = [
    (op) => op === name || (every !== undefined && op.startsWith(`${every}:`)),
    (op) => shortOp(op) === shortOp(bare) || op.startsWith(`${bare}:`),
    (op) => shortOp(op).toLowerCase() === bare.toLowerCase(),
  ];
  return ways.map((isMeant) => ops.filter(isMeant)).find((found) => found.length > 0) ?? [];
};

/**
 * A filter whose names of operations are those of the calls of a range: a name without a version means every
 * version of it.
 *
 * @throws ServiceError 422 if no call of the range is called so, with what was probably meant
 */
export const withKnownOps = async (
  context: ToolContext,
  projectId: ProjectId,
  filter: CallsFilter,
  range: Range,
): Promise<CallsFilter> => {
  if (filter.opNames === null || filter.opNames.length === 0) return filter;
  const isBounded = range.start !== null || range.end !== null;
  const counts: readonly (readonly [string | null, number])[] = isBounded
    ? await countNames(context, projectId, range, 'op_name')
    : (
        await readCalls(context, { projectId, filter: { ...filter, opNames: null }, columns: ['op_name'] })
      ).map(({ op_name }) => [asString(op_name) ?? null, 1]);
  const ops = [...new Set(counts.flatMap(([name]) => name ?? []))];
  if (ops.length === 0) return filter;
  const areAll = counts.length < maxGroups;
  const found = await Promise.all(
    filter.opNames.map(async (asked, i) => {
      const name = storedRef(asked);
      const meant = opsNamed(name, ops);
      if (meant.length > 0) return meant;
      if (!areAll) return [name];
      const way =
        (isBounded ? await otherField(context, projectId, range, name) : '') ||
        suggested(name, [...new Set(ops.map(shortOp))]);
      throw invalidAt(
        ['body', 'filter', 'op_names', String(i)],
        `no call in this range is called \`${asked}\`${way}`,
      );
    }),
  );
  return { ...filter, opNames: [...new Set(found.flat())] };
};

/** How to ask for a name that operations do not have and something else does; nothing if nothing has. */
const otherField = async (
  context: ToolContext,
  projectId: ProjectId,
  range: Range,
  name: string,
): Promise<string> => {
  for (const field of ['display_name', 'attributes.tool.name', 'attributes.agent.name'] as const) {
    const known = (await countNames(context, projectId, range, field)).flatMap(([value]) => value ?? []);
    const meant = known.find((value) => value.toLowerCase() === name.toLowerCase());
    if (meant === undefined) continue;
    const query = { $expr: { $eq: [{ $getField: field }, { $literal: meant }] } };
    return `; it is ${field === 'display_name' ? 'a' : 'an'} ${field}: query ${JSON.stringify(query)}`;
  }
  return '';
};

/** A field that is compared with a text. */
interface Named {
  readonly path: FieldPath;
  readonly text: string;
  /** Whether nothing can be found without it. */
  readonly isNeeded: boolean;
}

/** What an expression compares fields with, by `$eq`, `$ne` and `$in`. */
const findNamed = (expression: Expression): Named[] => {
  const found: Named[] = [];
  const add = (field: Expression, values: readonly Expression[], isNeeded: boolean): void => {
    if (field.kind !== 'field') return;
    for (const value of values)
      if (value.kind === 'literal' && typeof value.value === 'string')
        found.push({ path: field.path, text: value.value, isNeeded });
  };
  const left: [Expression, boolean][] = [[expression, true]];
  for (let next = left.pop(); next; next = left.pop()) {
    const [at, isNeeded] = next;
    switch (at.kind) {
      case 'and':
        for (const operand of at.operands) left.push([operand, isNeeded]);
        break;
      case 'or':
        for (const operand of at.operands) left.push([operand, false]);
        break;
      case 'not':
        left.push([at.operand, false]);
        break;
      case 'in':
        add(at.input, at.options, isNeeded && at.options.length === 1);
        break;
      case 'compare':
        if (at.operator !== '$eq' && at.operator !== '$ne') break;
        add(at.left, [at.right], isNeeded && at.operator === '$eq');
        add(at.right, [at.left], isNeeded && at.operator === '$eq');
        break;
      default:
    }
  }
  return found;
};

/** The names that statistics know, by the paths that lead to them. */
const groupOf = ({ text, field }: FieldPath): GroupField | 'model' | undefined => {
  if (text === 'op_name' || text === 'thread_id' || text === 'display_name') return text;
  if (text === 'svc_user_id') return 'user';
  if (text === 'inputs.model') return 'model';
  const isName =
    /^attributes\.(?:user\.id|kind|environment|release|tool\.name|agent\.(?:name|version)|prompt\.(?:name|version))$/;
  return field === 'attributes' && isName.test(text) ? (text as GroupField) : undefined;
};

const statuses = ['running', 'success', 'error', 'descendant_error'];

const ofWholeTraces =
  'descendant_error is a status of whole traces: query_calls knows it with {"trace_roots_only": true}, of at most 31 days';

/** What is wrong with a name in an expression; undefined if nothing is, or nobody can say. */
const nameProblem = async (
  context: ToolContext,
  { projectId, range, knowsTraces }: Asked,
  { path, text }: Named,
): Promise<string | undefined> => {
  if (path.text === `summary.${serviceName}.status`) {
    if (text === 'descendant_error' && !knowsTraces) return ofWholeTraces;
    return statuses.includes(text) ? undefined : `${path.text} is never \`${text}\`${listed(statuses)}`;
  }
  const group = groupOf(path);
  if (group === undefined) return undefined;
  const counts = await countNames(context, projectId, range, group);
  const known = counts.flatMap(([name]) => name ?? []);
  if (known.includes(text) || counts.length >= maxGroups) return undefined;
  // A model may be asked for by another name than it answers by.
  if (group === 'model') {
    const where = within(range, compare(path.text, '$eq', text));
    if ((await readCalls(context, { projectId, where, limit: 1, columns: [] })).length > 0) return undefined;
  }
  const ways: string[] = [];
  if (group === 'attributes.tool.name') {
    const ops = (await countNames(context, projectId, range, 'op_name')).flatMap(([name]) => name ?? []);
    const meant = opsNamed(text, ops);
    if (meant.length > 0)
      ways.push(`; there is an operation of that name: filter {"op_names": [${JSON.stringify(text)}]}`);
  }
  if (group === 'op_name' && opsNamed(text, known).length > 0)
    ways.push(`; filter {"op_names": [${JSON.stringify(text)}]} finds every version of it`);
  return `no call in this range has the ${path.text} \`${text}\`${ways[0] ?? suggested(text, known)}`;
};

/** The fields of calls that hold whatever clients report. */
const free = ['attributes', 'inputs', 'output', 'summary'];

/** Every dotted path into a value, a few levels deep. */
const pathsBelow = (value: unknown, path: string, depth = 4): string[] => {
  if (typeof value !== 'object' || value === null || depth === 0) return [];
  return Object.entries(value)
    .slice(0, 100)
    .flatMap(([name, child]) => [`${path}.${name}`, ...pathsBelow(child, `${path}.${name}`, depth - 1)]);
};

/** Whether a path leads into what clients report, which no list of fields names. */
const isFree = ({ field, steps }: FieldPath): boolean =>
  free.includes(field) && steps.length > 0 && !(field === 'summary' && steps[0] === serviceName);

/** What feedback does not have of what an expression asks for; undefined if it has all. */
const feedbackProblem = async (
  context: ToolContext,
  { projectId, range }: Asked,
  expression: Expression,
): Promise<string | undefined> => {
  const paths = pathsIn(expression).filter(({ field }) => field === 'feedback');
  if (paths.length === 0) return undefined;
  // Feedback comes after its call.
  const types = await sampleFeedback(context, projectId, { start: range.start, end: null });
  for (const path of paths) {
    const [type = '', first, ...below] = path.steps;
    const problem = unknownFeedback(types, type, first === 'payload' ? below.join('.') : null);
    if (problem !== undefined) return problem;
    const is = types.get(type)?.get(below.join('.'))?.types ?? [];
    const wanted = comparedTypes(expression, path);
    if (is.length > 0 && wanted.length > 0 && !wanted.some((name) => is.includes(name)))
      return `${path.text} is ${is.join(' or ')}, and not ${wanted.join(' or ')}`;
  }
  return undefined;
};

/**
 * Says that there is no feedback of a type, or that it has no such field.
 *
 * @param path into its payload; null for none
 */
export const unknownFeedback = (
  types: Awaited<ReturnType<typeof sampleFeedback>>,
  type: string,
  path: string | null,
): string | undefined => {
  const fields = types.get(type);
  if (!fields)
    return `there is no feedback of the type \`${type}\` in this range${suggested(type, [...types.keys()])}`;
  if (path === null || path === '') return undefined;
  const known = [...fields.keys()].filter((name) => name !== '');
  if (known.some((name) => name === path || name.startsWith(`${path}.`))) return undefined;
  return `feedback of the type \`${type}\` has no \`payload.${path}\`${suggested(
    `payload.${path}`,
    known.map((name) => `payload.${name}`),
  )}`;
};

/** What paths lead to that no sampled call has, or that has another type than it is compared with. */
const fieldProblem = async (
  context: ToolContext,
  { projectId, range }: Pick<Asked, 'projectId' | 'range'>,
  paths: readonly FieldPath[],
  expression: Expression | null,
): Promise<string | undefined> => {
  const strange = paths.filter(isFree);
  if (strange.length === 0) return undefined;
  const calls = await readCalls(context, {
    projectId,
    where: within(range, null),
    sort: newestFirst,
    limit: sampled,
    columns: free,
  });
  if (calls.length === 0) return undefined;
  for (const path of strange) {
    const values = calls.flatMap((call) => valueIn(call, path.text) ?? []);
    if (values.length === 0) {
      const near = [...new Set(calls.flatMap((call) => pathsBelow(call[path.field], path.field)))];
      return `there is no \`${path.text}\` in the newest ${calls.length} calls of this range${didYouMean(path.text, near)}`;
    }
    const wanted = expression ? comparedTypes(expression, path) : [];
    const types = describeTypes(values as JsonValue[]);
    if (wanted.length > 0 && !wanted.some((type) => types.includes(type)))
      return `${path.text} is ${types.join(' or ')} in these calls, such as ${JSON.stringify(values[0]).slice(0, 80)}, and not ${wanted.join(' or ')}`;
  }
  return undefined;
};

/** Says of fields to sort by, or to choose among, that no call has them. */
export const unknownFields = async (
  context: ToolContext,
  asked: Pick<Asked, 'projectId' | 'range'>,
  paths: readonly FieldPath[],
): Promise<string[]> => {
  const strange = paths.filter(({ text }) => !isHeaderPath(text));
  const problem = await fieldProblem(context, asked, strange, null);
  return problem === undefined ? [] : [problem];
};

/** The paths that an expression can hold without. */
const optionalPaths = (expression: Expression): FieldPath[] => {
  if (expression.kind === 'and') return expression.operands.flatMap(optionalPaths);
  return expression.kind === 'or' || expression.kind === 'not' ? pathsIn(expression) : [];
};

/** The path that was probably meant by one that leads nowhere in the newest calls of a range; nothing if none. */
export const meantPath = async (
  context: ToolContext,
  projectId: ProjectId,
  range: Range,
  text: string,
): Promise<string> => {
  const [field = ''] = text.split('.', 1);
  if (!free.includes(field)) return '';
  const query = {
    projectId,
    where: within(range, null),
    sort: newestFirst,
    limit: sampled,
    columns: [field],
  };
  const calls = await readCalls(context, query);
  return didYouMean(text, [...new Set(calls.flatMap((call) => pathsBelow(call[field], field)))]);
};

/** The types of the literals that a path is compared with as it is. */
const comparedTypes = (expression: Expression, path: FieldPath): string[] => {
  const found = new Set<string>();
  const isPath = (operand: Expression) => operand.kind === 'field' && operand.path.text === path.text;
  const add = (operand: Expression): void => {
    if (operand.kind === 'literal' && operand.value !== null)
      found.add(describeTypes([operand.value])[0] ?? '');
  };
  const left = [expression];
  for (let next = left.pop(); next; next = left.pop()) {
    if (next.kind === 'and' || next.kind === 'or') left.push(...next.operands);
    else if (next.kind === 'not') left.push(next.operand);
    else if (next.kind === 'in' && isPath(next.input)) for (const option of next.options) add(option);
    else if (next.kind === 'compare') {
      if (isPath(next.left)) add(next.right);
      if (isPath(next.right)) add(next.left);
    }
  }
  return [...found];
};

/**
 * What is to be known of an answer that names what there is not. Where nothing was found, that is an error.
 *
 * @param isEmpty whether nothing was found
 * @returns notes; none if every name is known
 * @throws ServiceError 404 for an unknown project, 422 for names that no call of the range has
 */
export const checkNames = async (context: ToolContext, asked: Asked, isEmpty: boolean): Promise<string[]> => {
  const { projectId, filter, where, range } = asked;
  const named = (where ? findNamed(where) : []).filter(({ isNeeded }) => isEmpty || !isNeeded);
  const users = (filter.userIds ?? []).map((text, i) => ({ text, i }));
  const notes: string[] = [];
  if (isEmpty) notes.push(...(await whyEmpty(context, projectId, range)));
  // Without any calls nothing is known of names.
  if (notes.length > 0) return notes;
  for (const each of named.slice(0, 20)) {
    const problem = await nameProblem(context, asked, each);
    if (problem === undefined) continue;
    if (isEmpty) throw invalidAt(['body', 'query'], problem);
    notes.push(problem);
  }
  if (isEmpty) await checkIds(context, asked);
  if (users.length > (isEmpty ? 0 : 1)) {
    const known = (await countNames(context, projectId, range, 'user')).flatMap(([name]) => name ?? []);
    for (const { text, i } of users) {
      if (known.includes(text)) continue;
      const problem = `no call in this range was reported by \`${text}\`${suggested(text, known)}. End users are attributes.user.id`;
      if (isEmpty) throw invalidAt(['body', 'filter', 'svc_user_ids', String(i)], problem);
      notes.push(problem);
    }
  }
  if (where === null) return notes;
  if (!isEmpty) return [...notes, ...(await unknownFields(context, asked, optionalPaths(where)))];
  const problem =
    (await feedbackProblem(context, asked, where)) ??
    (await fieldProblem(context, asked, pathsIn(where), where));
  if (problem !== undefined) throw invalidAt(['body', 'query'], problem);
  return [...notes, ...(await nearMisses(context, asked, where))];
};

/** Why a range has no calls at all; nothing if it has some. @throws ServiceError 404 for an unknown project */
export const whyEmpty = async (
  context: ToolContext,
  projectId: ProjectId,
  range: Range,
): Promise<string[]> => {
  const read = (where: Expression | null): Promise<Call[]> =>
    readCalls(context, { projectId, where, sort: newestFirst, limit: 1, columns: [] });
  if ((await read(within(range, null))).length > 0) return [];
  const [newest] = await read(null);
  if (newest)
    return [
      `the range has no calls at all; the newest call of the project started at ${asString(newest.started_at)}`,
    ];
  await checkKnown(context, projectId);
  return ['this project has no calls'];
};

/** The project that was probably meant, or those that the caller may read. */
export const suggestProject = async (
  { caller, stores, budget }: ToolContext,
  name: string,
): Promise<string> => {
  const slice = { offset: 0, limit: 1000 };
  const known = await queryProjects(stores.bookkeeping, caller.grants, slice, budget);
  return suggested(
    name,
    known.map(({ project_id }) => project_id),
  );
};

/** Refuses a project that nobody ever wrote to. @throws ServiceError 404 with what was probably meant */
export const checkKnown = async (context: ToolContext, projectId: ProjectId): Promise<void> => {
  const { stores, budget } = context;
  const itself = [{ scope: projectId, role: 'read' as const }];
  if ((await queryProjects(stores.bookkeeping, itself, { offset: 0, limit: 1 }, budget)).length > 0) return;
  const way = await suggestProject(context, projectId);
  throw notFound(['body', 'project_id'], `there is no project ${projectId}${way}`);
};

/**
 * An expression that looks for texts inside of lists and objects, too: `$contains` alone takes a text, or a
 * list with an equal item.
 */
export const readable = (expression: Expression): Expression => {
  switch (expression.kind) {
    case 'and':
    case 'or':
      return { ...expression, operands: expression.operands.map(readable) };
    case 'not':
      return { ...expression, operand: readable(expression.operand) };
    case 'contains': {
      const { input } = expression;
      if (input.kind !== 'field' || !free.includes(input.path.field)) return expression;
      const asText: Expression = { ...expression, input: { kind: 'convert', input, to: 'string' } };
      return { kind: 'or', operands: [asText, expression] };
    }
    default:
      return expression;
  }
};
