import type { CallsFilter } from '../../../api/queries.ts';
import { queryCalls as description } from '../../../api/tools.ts';
import { type Expression, pathsIn, toPath, valueAt } from '../../../foundations/expression/index.ts';
import { invalid, type JsonValue, type ProjectId } from '../../../foundations/wire/index.ts';
import { type Call, compact, headerColumns, newestFirst, readCalls, rowOf, textOf } from './calls.ts';
import { runs, type ToolContext } from './context.ts';
import { cutter, type Gap, gapTexts } from './cut.ts';
import { didYouMean } from './mend.ts';
import { cursorOf, isNamed, placeOf, rangeOf, shownRange, within } from './range.ts';
import { fitted, type Json, type JsonFields, sizeOf } from './reply.ts';

/** How far a query without a start looks back: seven days. */
const usualSpan = 7 * 86_400e6;

/** How many calls are looked at to find out what a name should have been. */
const sampled = 100;

const free = ['attributes', 'inputs', 'output', 'summary'];

/** The least that is shown of the values that were asked for of a call, in characters. */
const useful = 300;

/** Every dotted path into a value, a few levels deep. */
const pathsBelow = (value: Json | undefined, path: string, depth = 4): string[] => {
  if (typeof value !== 'object' || value === null || depth === 0) return [];
  return Object.entries(value)
    .slice(0, 100)
    .flatMap(([name, of]) => [`${path}.${name}`, ...pathsBelow(of as Json, `${path}.${name}`, depth - 1)]);
};

/**
 * Looks whether a query that found nothing names anything that there is not.
 *
 * @throws ServiceError 422 with what was probably meant
 */
const checkNames = async (
  context: ToolContext,
  projectId: ProjectId,
  { opNames }: CallsFilter,
  { where, asked }: { readonly where: Expression | null; readonly asked: Expression | null },
): Promise<void> => {
  const paths = asked
    ? pathsIn(asked).filter(({ field, steps }) => free.includes(field) && steps.length > 0)
    : [];
  const strange = paths.filter(({ field, steps }) => field !== 'summary' || steps[0] === 'usage');
  if (strange.length === 0 && opNames === null) return;
  const known = await readCalls(context, {
    ...{ projectId, where, sort: newestFirst, limit: sampled },
    columns: strange.length > 0 ? free : [],
  });
  const ops = [...new Set(known.flatMap(({ op_name }) => textOf(op_name) ?? []))];
  for (const [i, name] of (opNames ?? []).entries()) {
    const isThere = ops.some(
      (op) => op === name || (name.endsWith(':*') && op.startsWith(name.slice(0, -1))),
    );
    const meant = didYouMean(name, ops);
    if (!isThere && meant !== '')
      throw invalid({
        loc: ['body', 'filter', 'op_names', String(i)],
        msg: `no call in this range is called \`${name}\`${meant}`,
        type: 'value_error',
      });
  }
  for (const path of strange) {
    const leads = known.some((call) => valueAt(call[path.field] as JsonValue, path.steps) !== undefined);
    if (leads || known.length === 0) continue;
    const near = [...new Set(known.flatMap((call) => pathsBelow(call[path.field], path.field)))];
    throw invalid({
      loc: ['body', 'query'],
      msg: `there is no \`${path.text}\` in the newest ${known.length} calls of this range${didYouMean(path.text, near)}`,
      type: 'value_error',
    });
  }
};

/** The values of columns that were asked for, by their paths. */
const valuesOf = (call: Call, columns: readonly string[]): JsonFields =>
  Object.fromEntries(
    columns.map((column) => {
      const { field, steps } = toPath(column);
      return [column, (valueAt(call[field] as JsonValue, steps) as Json | undefined) ?? null];
    }),
  );

export const queryCalls = runs(description, async (args, context) => {
  const { projectId, filter, where: asked, sort, columns, limit, cursor, maxCharacters } = args;
  const { stores, links, now } = context;
  const { policy } = stores.calls;
  const named = isNamed(filter) && args.start === null && args.end === null;
  const place =
    cursor === null
      ? { ...(named ? { start: null, end: null } : rangeOf(args, now, usualSpan)), offset: 0 }
      : placeOf(cursor);
  const { start, end, offset } = place;
  const where = within(place, asked);
  const found = await readCalls(context, {
    ...{ projectId, filter, where, offset },
    sort: sort.length > 0 ? sort : newestFirst,
    limit: limit + 1,
    columns: [...headerColumns(policy), ...(columns ?? [])],
  });
  if (found.length === 0 && offset === 0)
    await checkNames(context, projectId, filter, { where: within(place, null), asked });
  const rows = found.slice(0, limit);
  const cut = cutter();
  const values = rows.map((call) => valuesOf(call, columns ?? []));
  const range = start === null || end === null ? undefined : shownRange({ start, end });
  const rest: JsonFields = range
    ? { range, url: links.traces(projectId, range.start, range.end) }
    : { url: links.project(projectId) };
  const shown = rows.map((call) => ({
    ...rowOf(call, policy),
    ...compact({
      trace_id: call.trace_id,
      parent_id: call.parent_id,
      thread_id: call.thread_id,
      user: call[policy.columns.userId],
    }),
    url: links.trace(projectId, textOf(call.trace_id) ?? '', textOf(call.id)),
  }));
  const build = (count: number, room: number): JsonFields => {
    const gaps: Gap[] = [];
    const calls = shown.slice(0, count).map((row, i) => {
      if (!columns?.length) return row;
      const { value, gaps: of } = cut(values[i] ?? {}, room, '');
      gaps.push(...of);
      return { ...row, values: value };
    });
    const missing = [
      ...(found.length > count ? [`more calls after these ${count}: query_calls with the cursor`] : []),
      ...(gaps.length > 0
        ? gapTexts(gaps.slice(0, 1), ({ path, from }) => `get_call with path ${path} and offset ${from}`)
        : []),
      ...(gaps.length > 1
        ? [`${gaps.length - 1} more values were cut, each ends in …: get_call has them whole`]
        : []),
    ];
    return {
      calls,
      ...rest,
      ...(missing.length > 0 && { missing }),
      ...(found.length > count && { next_cursor: cursorOf({ start, end, offset: offset + count }) }),
    };
  };
  // Values are cut first, down to what still says something, and rows are left out then.
  const fits = (count: number, room: number): boolean => sizeOf(build(count, room)) <= maxCharacters;
  if (!columns?.length || !fits(rows.length, useful))
    return fitted(maxCharacters, rows.length, (count) => build(count, useful));
  return fitted(maxCharacters, maxCharacters, (room) => build(rows.length, useful + room));
});
