import { type CallsFilter, everyCall } from '../../../api/queries.ts';
import type { GroupField } from '../../../api/stats.ts';
import { type Expression, type FieldPath, pathsIn } from '../../../foundations/expression/index.ts';
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
import { didYouMean } from './mend.ts';
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
        .map((name) => `\`${name}\``)
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
      const shown = isBounded ? await countNames(context, projectId, range, 'display_name') : [];
      const isShown = shown.some(([displayed]) => displayed === name);
      const way = isShown
        ? `; it is a display_name: query {"$expr": {"$eq": [{"$getField": "display_name"}, {"$literal": ${JSON.stringify(name)}}]}}`
        : suggested(name, [...new Set(ops.map(shortOp))]);
      throw invalidAt(
        ['body', 'filter', 'op_names', String(i)],
        `no call in this range is called \`${asked}\`${way}`,
      );
    }),
  );
  return { ...filter, opNames: [...new Set(found.flat())] };
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

/** What is wrong with a name in an expression; undefined if nothing is, or nobody can say. */
const nameProblem = async (
  context: ToolContext,
  projectId: ProjectId,
  range: Range,
  { path, text }: Named,
): Promise<string | undefined> => {
  if (path.text === `summary.${serviceName}.status`)
    return statuses.includes(text) ? undefined : `${path.text} is never \`${text}\`${listed(statuses)}`;
  const group = groupOf(path);
  if (group === undefined) return undefined;
  const counts = await countNames(context, projectId, range, group);
  const known = counts.flatMap(([name]) => name ?? []);
  if (known.includes(text) || counts.length >= maxGroups) return undefined;
  // A model may be asked for by another name than it answers by.
  if (group === 'model' && known.length > 0 && known.some((name) => name.startsWith(text))) return undefined;
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

/** What a path leads to that no sampled call has, or that has another type than it is compared with. */
const fieldProblem = async (
  context: ToolContext,
  projectId: ProjectId,
  range: Range,
  expression: Expression,
): Promise<string | undefined> => {
  const strange = pathsIn(expression).filter(
    ({ field, steps }) =>
      free.includes(field) && steps.length > 0 && !(field === 'summary' && steps[0] === serviceName),
  );
  const ofFeedback = pathsIn(expression).filter(({ field }) => field === 'feedback');
  if (ofFeedback.length > 0) {
    // Feedback comes after its call.
    const types = await sampleFeedback(context, projectId, { start: range.start, end: null });
    for (const { steps } of ofFeedback) {
      const [type = '', ...below] = steps;
      const fields = types.get(type);
      if (!fields)
        return `there is no feedback of the type \`${type}\` in this range${suggested(type, [...types.keys()])}`;
      const path = below.join('.');
      const known = [...fields.keys()].map((name) => `payload.${name}`);
      if (path.startsWith('payload.') && !known.some((name) => name === path || name.startsWith(`${path}.`)))
        return `feedback of the type \`${type}\` has no \`${path}\`${suggested(path, known)}`;
    }
  }
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
    const wanted = comparedTypes(expression, path);
    const types = describeTypes(values as JsonValue[]);
    if (wanted.length > 0 && !wanted.some((type) => types.includes(type)))
      return `${path.text} is ${types.join(' or ')} in these calls, such as ${JSON.stringify(values[0]).slice(0, 80)}, and not ${wanted.join(' or ')}`;
  }
  return undefined;
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

/** Whose calls, and which. */
export interface Asked {
  readonly projectId: ProjectId;
  readonly filter: CallsFilter;
  readonly where: Expression | null;
  readonly range: Range;
}

/**
 * What is to be known of an answer that names what there is not. Where nothing was found, that is an error.
 *
 * @param isEmpty whether nothing was found
 * @returns notes; none if every name is known
 * @throws ServiceError 404 for an unknown project, 422 for names that no call of the range has
 */
export const checkNames = async (
  context: ToolContext,
  { projectId, filter, where, range }: Asked,
  isEmpty: boolean,
): Promise<string[]> => {
  const named = (where ? findNamed(where) : []).filter(({ isNeeded }) => isEmpty || !isNeeded);
  const users = (filter.userIds ?? []).map((text, i) => ({ text, i }));
  const notes: string[] = [];
  if (isEmpty) notes.push(...(await whyEmpty(context, projectId, range)));
  // Without any calls nothing is known of names.
  if (notes.length > 0) return notes;
  for (const each of named.slice(0, 20)) {
    const problem = await nameProblem(context, projectId, range, each);
    if (problem === undefined) continue;
    if (isEmpty) throw invalidAt(['body', 'query'], problem);
    notes.push(problem);
  }
  if (users.length > (isEmpty ? 0 : 1)) {
    const known = (await countNames(context, projectId, range, 'user')).flatMap(([name]) => name ?? []);
    for (const { text, i } of users) {
      if (known.includes(text)) continue;
      const problem = `no call in this range was reported by \`${text}\`${suggested(text, known)}. End users are attributes.user.id`;
      if (isEmpty) throw invalidAt(['body', 'filter', 'svc_user_ids', String(i)], problem);
      notes.push(problem);
    }
  }
  const problem = isEmpty && where ? await fieldProblem(context, projectId, range, where) : undefined;
  if (problem !== undefined) throw invalidAt(['body', 'query'], problem);
  return notes;
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

/** Refuses a project that nobody ever wrote to. @throws ServiceError 404 with what was probably meant */
export const checkKnown = async (
  { caller, stores, budget }: ToolContext,
  projectId: ProjectId,
): Promise<void> => {
  const find = (grants: typeof caller.grants, limit: number) =>
    queryProjects(stores.bookkeeping, grants, { offset: 0, limit }, budget);
  if ((await find([{ scope: projectId, role: 'read' }], 1)).length > 0) return;
  const known = (await find(caller.grants, 1000)).map(({ project_id }) => project_id);
  throw notFound(['body', 'project_id'], `there is no project ${projectId}${suggested(projectId, known)}`);
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
