import { type CallsFilter, type CallsQuery, maxTotalsDays } from '../../../api/queries.ts';
import { queryCalls as description } from '../../../api/tools.ts';
import { type Expression, pathsIn } from '../../../foundations/expression/index.ts';
import { asString, invalidAt, type ProjectId, serviceName } from '../../../foundations/wire/index.ts';
import { type Call, compact, newestFirst, readCalls, toRow, withCosts } from './calls.ts';
import { runs, type ToolContext } from './context.ts';
import { gapTexts, wayTo } from './cut.ts';
import { didYouMean } from './mend.ts';
import { isNamed, parseCursor, type Range, shownRange, toCursor, toRange, within } from './range.ts';
import { fitted, type Json, type JsonFields, toMissing } from './reply.ts';
import { listColumns, traceFigures, withPreviews } from './traces.ts';
import { cutValues, mostRows, roomPerCall, valueIn } from './values.ts';

/** How far a query without a start looks back: seven days. */
const usualSpan = 7 * 86_400e6;

/** How many calls are looked at to find out what a name should have been. */
const sampled = 100;

const free = ['attributes', 'inputs', 'output', 'summary'];

/** Every dotted path into a value, a few levels deep. */
const pathsBelow = (value: Json | undefined, path: string, depth = 4): string[] => {
  if (typeof value !== 'object' || value === null || depth === 0) return [];
  return Object.entries(value)
    .slice(0, 100)
    .flatMap(([name, child]) => [
      `${path}.${name}`,
      ...pathsBelow(child as Json, `${path}.${name}`, depth - 1),
    ]);
};

/**
 * Looks whether a query that found nothing names anything that there is not.
 *
 * @param where the range of the query
 * @param asked its expression
 * @throws ServiceError 422 with what was probably meant
 */
const checkNames = async (
  context: ToolContext,
  projectId: ProjectId,
  { opNames }: CallsFilter,
  { where, asked: condition }: { readonly where: Expression | null; readonly asked: Expression | null },
): Promise<void> => {
  const strange = (condition ? pathsIn(condition) : []).filter(
    ({ field, steps }) =>
      free.includes(field) && steps.length > 0 && !(field === 'summary' && steps[0] === serviceName),
  );
  if (strange.length === 0 && opNames === null) return;
  const known = await readCalls(
    context,
    {
      projectId,
      where,
      sort: newestFirst,
      limit: sampled,
      columns: strange.length > 0 ? free : [],
    },
    (call) => ({
      opName: asString(call.op_name) ?? '',
      there: strange.filter(({ text }) => valueIn(call, text) !== undefined).map(({ text }) => text),
      paths: strange.flatMap(({ field }) => pathsBelow(call[field], field)),
    }),
  );
  const ops = [...new Set(known.map(({ opName }) => opName))];
  for (const [i, name] of (opNames ?? []).entries()) {
    const isThere = ops.some(
      (op) => op === name || (name.endsWith(':*') && op.startsWith(name.slice(0, -1))),
    );
    const suggestion = isThere ? '' : didYouMean(name, ops);
    if (suggestion !== '')
      throw invalidAt(
        ['body', 'filter', 'op_names', String(i)],
        `no call in this range is called \`${name}\`${suggestion}`,
      );
  }
  const nowhere = strange.find(({ text }) => !known.some(({ there }) => there.includes(text)));
  if (!nowhere || known.length === 0) return;
  const near = [...new Set(known.flatMap(({ paths }) => paths))];
  throw invalidAt(
    ['body', 'query'],
    `there is no \`${nowhere.text}\` in the newest ${known.length} calls of this range${didYouMean(nowhere.text, near)}`,
  );
};

/**
 * Whether a query takes what traces add up to: it names that, or asks roots for their status, which is
 * `descendant_error` if a call below failed. The latter only where it is not too much to add up.
 */
const needsTotals = (
  { where, sort, filter }: Pick<CallsQuery, 'where' | 'sort' | 'filter'>,
  { start, end }: Range,
): boolean => {
  const block = `summary.${serviceName}`;
  const paths = [...(where ? pathsIn(where) : []), ...sort.map(({ path }) => path)];
  if (paths.some(({ text }) => text.startsWith(`${block}.trace_totals`))) return true;
  const isShort = start !== null && end !== null && end - start <= maxTotalsDays * 86_400e6;
  return filter.traceRootsOnly && isShort && paths.some(({ text }) => text === `${block}.status`);
};

export const queryCalls = runs(description, async (args, context) => {
  const { projectId, filter, where: condition, sort, columns, limit, cursor, maxCharacters } = args;
  const { links, now } = context;
  const named = isNamed(filter) && args.start === null && args.end === null;
  const { start, end, offset } =
    cursor === null
      ? { ...(named ? { start: null, end: null } : toRange(args, now, usualSpan)), offset: 0 }
      : parseCursor(cursor);
  const most = Math.min(limit, mostRows(maxCharacters));
  const room = roomPerCall(maxCharacters, Math.min(most, 20));
  const query = {
    includes: { ...withCosts, traceTotals: needsTotals(args, { start, end }) },
    projectId,
    filter,
    where: within({ start, end }, condition),
    offset,
    sort: sort.length > 0 ? sort : newestFirst,
    limit: most + 1,
    columns: [...listColumns, ...(columns ?? [])],
  };
  const found = await readCalls(context, query, (call) => {
    // What rows do not show need not stay in memory.
    const header: Call = {
      ...call,
      inputs: null,
      output: null,
      exception: null,
      attributes: {
        kind: valueIn(call, 'attributes.kind'),
        tool: { name: valueIn(call, 'attributes.tool.name') },
        agent: { name: valueIn(call, 'attributes.agent.name') },
        user: { id: valueIn(call, 'attributes.user.id') },
      },
    };
    return { call: header, cut: columns === null ? undefined : cutValues(call, columns, room) };
  });
  if (found.length === 0 && offset === 0)
    await checkNames(context, projectId, filter, { where: within({ start, end }, null), asked: condition });
  const shown = found.slice(0, most);
  const calls = await withPreviews(
    context,
    projectId,
    shown.map(({ call }) => call),
  );
  const figures = await traceFigures(context, projectId, calls);
  const rows = calls.map((call, i) => {
    const id = asString(call.id) ?? '';
    return compact({
      ...toRow(call),
      trace_id: call.trace_id,
      parent_id: call.parent_id,
      thread_id: call.thread_id,
      end_user: valueIn(call, 'attributes.user.id'),
      trace: figures.get(id),
      values: shown[i]?.cut?.value,
      url: links.trace(projectId, asString(call.trace_id) ?? '', id),
    });
  });
  const range = start === null || end === null ? undefined : shownRange({ start, end });
  const rest: JsonFields = range
    ? { range, url: links.traces(projectId, range.start, range.end) }
    : { url: links.project(projectId) };
  return fitted(maxCharacters, rows.length, (count) => {
    const cuts = shown
      .slice(0, count)
      .flatMap(({ call, cut }) => (cut?.gaps.length ? [{ call, gaps: cut.gaps }] : []));
    const [first] = cuts;
    const missing = [
      ...(found.length > count ? [`more calls after these ${count}: query_calls with the cursor`] : []),
      ...(first ? gapTexts(first.gaps.slice(0, 1), (gap) => wayTo(gap, asString(first.call.id))) : []),
      ...(cuts.length > 1
        ? [`values of ${cuts.length - 1} more calls were cut; get_call has them whole`]
        : []),
    ];
    return {
      calls: rows.slice(0, count),
      ...rest,
      ...toMissing(missing),
      ...(found.length > count && { next_cursor: toCursor({ start, end, offset: offset + count }) }),
    };
  });
});
