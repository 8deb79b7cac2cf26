import { type CallsQuery, maxTotalsDays } from '../../../api/queries.ts';
import { queryCalls as description, isOfRows, rowColumns } from '../../../api/tools.ts';
import { type FieldPath, pathsIn, type SortKey, toPath } from '../../../foundations/expression/index.ts';
import { asString, serviceName } from '../../../foundations/wire/index.ts';
import {
  type Call,
  headerColumns,
  newestFirst,
  readCalls,
  saying,
  toColumns,
  toFields,
  toTable,
  withCosts,
} from './calls.ts';
import { runs } from './context.ts';
import { gapTexts, wayTo } from './cut.ts';
import { checkNames, readable, unknownFields, withKnownOps } from './names.ts';
import { goesOn, isNamed, parseCursor, type Range, toRange, usualRange, within } from './range.ts';
import { fitted, type Json, type JsonFields, toMissing } from './reply.ts';
import { traceFigures, withPreviews } from './traces.ts';
import { cutValues, mostRows, roomPerCall, valueIn } from './values.ts';

/** How far a query without a start looks back: seven days. */
const usualSpan = 7 * 86_400e6;

/** Columns that take what traces add up to, and those that take previews. */
const ofTraces = (column: string): boolean => column.startsWith('trace_') && column !== 'trace_id';
const ofPreviews = (column: string): boolean => column.endsWith('_preview');

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
  const { projectId, where: condition, sort, columns, limit, cursor, maxCharacters } = args;
  const { links, now } = context;
  const named = isNamed(args.filter) && args.start === null && args.end === null;
  const { start, end, offset } =
    cursor === null
      ? { ...(named ? { start: null, end: null } : toRange(args, now, usualSpan)), offset: 0 }
      : parseCursor(cursor);
  const filter = await withKnownOps(context, projectId, args.filter, { start, end });
  const where = condition && readable(condition);
  const most = Math.min(limit, mostRows(maxCharacters, columns?.length));
  const room = roomPerCall(maxCharacters, Math.min(most, 20));
  const paths = columns?.filter((column) => !isOfRows(column)) ?? [];
  const wants = (isOne: (column: string) => boolean): boolean => columns === null || columns.some(isOne);
  const query = {
    includes: { ...withCosts, traceTotals: needsTotals({ ...args, where }, { start, end }) },
    projectId,
    filter,
    where: within({ start, end }, where),
    offset,
    sort: sort.length > 0 ? sort : newestFirst,
    limit: most + 1,
    columns: [...headerColumns, ...(wants(ofPreviews) ? ['preview'] : []), ...paths],
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
    return { call: header, cut: paths.length === 0 ? undefined : cutValues(call, paths, room) };
  });
  const range = { start, end };
  const shown = found.slice(0, most);
  const knowsTraces = query.includes.traceTotals;
  const asked = { projectId, filter, where: condition, range, knowsTraces };
  const notes =
    offset === 0
      ? [
          ...(await checkNames(context, asked, found.length === 0)),
          ...(await unknownFields(context, asked, unseenPaths(sort, paths, shown))),
        ]
      : [];
  const plain = shown.map(({ call }) => call);
  const calls = wants(ofPreviews) ? await withPreviews(context, projectId, plain) : plain;
  const figures = wants(ofTraces) ? await traceFigures(context, projectId, calls) : new Map();
  const rows = calls.map((call, i) => ({
    ...toColumns(call),
    ...prefixed(figures.get(asString(call.id) ?? '')),
    ...toFields(shown[i]?.cut?.value),
  }));
  const names = columns ?? saying(rowColumns, rows);
  const rest: JsonFields = {
    ...usualRange(args, { start, end }),
    ...(rows.length > 0 && { url_of_call: links.anyCall(projectId) }),
    ...(notes.length > 0 && { notes }),
  };
  return fitted(maxCharacters, rows.length, (count) => {
    const cuts = shown
      .slice(0, count)
      .flatMap(({ call, cut }) => (cut?.gaps.length ? [{ call, gaps: cut.gaps }] : []));
    const [first] = cuts;
    const words = `more calls after these ${count}: query_calls with the cursor`;
    const { missing: after = [], ...more } =
      found.length > count ? goesOn(words, count, { start, end, offset }) : {};
    const missing = [
      ...after,
      ...(first
        ? gapTexts(first.gaps.slice(0, 1), { get: (gap) => wayTo(gap, asString(first.call.id)) })
        : []),
      ...(cuts.length > 1
        ? [`values of ${cuts.length - 1} more calls were cut; get_call has them whole`]
        : []),
    ];
    return {
      calls: toTable(rows, names, count),
      ...rest,
      ...toMissing(missing),
      ...more,
    };
  });
});

/** The paths of an order, and of columns that no row has a value of. */
const unseenPaths = (
  sort: readonly SortKey[],
  paths: readonly string[],
  shown: readonly { readonly cut: { readonly value: Json } | undefined }[],
): FieldPath[] => {
  if (shown.length === 0) return [];
  const has = (path: string) => shown.some(({ cut }) => (toFields(cut?.value)[path] ?? null) !== null);
  return [...sort.map(({ path }) => path), ...paths.filter((path) => !has(path)).map(toPath)];
};

/** The figures of a whole trace, as columns. */
const prefixed = (figures: JsonFields | undefined): JsonFields =>
  Object.fromEntries(Object.entries(figures ?? {}).map(([name, value]) => [`trace_${name}`, value]));
