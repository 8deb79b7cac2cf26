import { dayMicros, everyIssue, type IssueRow, type IssuesFilter, maxDays } from '../../../api/issues.ts';
import { everyCall } from '../../../api/queries.ts';
import { findIssues as description } from '../../../api/tools.ts';
import { invalidAt, type ProjectId, serviceName } from '../../../foundations/wire/index.ts';
import { queryIssues, toOpName } from '../../questions/issues/index.ts';
import { saying, toTable } from './calls.ts';
import { runs, type ToolContext } from './context.ts';
import { toWord } from './mend.ts';
import { checkNames, countNames, maxGroups, suggested, withKnownOps } from './names.ts';
import { goesOn, parseCursor, type Range, shownRange, toRange } from './range.ts';
import { fitted, type JsonFields } from './reply.ts';

/** How far issues without a start look back: seven days. */
const usualSpan = 7 * dayMicros;

const issueColumns = [
  'title',
  'kind',
  'op_name',
  'tool_name',
  'count',
  'trace_count',
  'user_count',
  'first_seen',
  'last_seen',
  'state',
  'releases',
  'assignee',
  'note',
  'examples',
  'issue_id',
];

/** A filter whose operations are those of the calls of a range. Issues are of every version of an operation. */
const withIssueOps = async (
  context: ToolContext,
  projectId: ProjectId,
  filter: IssuesFilter,
  range: Range,
): Promise<IssuesFilter> => {
  const { opNames } = await withKnownOps(
    context,
    projectId,
    { ...everyCall, opNames: filter.opNames },
    range,
  );
  return { ...filter, opNames: opNames && [...new Set(opNames.map(toOpName))] };
};

/** Refuses tools and releases that no call of a range has. @throws ServiceError 422 with what was probably meant */
const checkListed = async (
  context: ToolContext,
  projectId: ProjectId,
  { toolNames, releases }: IssuesFilter,
  range: Range,
): Promise<void> => {
  for (const [list, names, path] of [
    ['tool_names', toolNames, 'attributes.tool.name'],
    ['releases', releases, 'attributes.release'],
  ] as const) {
    if (names === null || names.length === 0) continue;
    const counts = await countNames(context, projectId, range, path);
    const known = counts.flatMap(([name]) => name ?? []);
    const at = names.findIndex((name) => !known.includes(name));
    if (at < 0 || counts.length >= maxGroups) continue;
    throw invalidAt(
      ['body', 'filter', list, String(at)],
      `no call in this range has the ${path} \`${names[at]}\`${suggested(names[at] ?? '', known)}`,
    );
  }
};

/** What to call next to learn the cause of an issue. Names that are long would take the room of other issues. */
export const adviseOn = ({ kind, op_name: op, tool_name: tool, examples: [example] }: IssueRow): string[] => {
  if (example === undefined) return [];
  const shown = {
    error: 'its exception and inputs',
    verdict: 'what was judged, with the reason',
    feedback: 'what it was about, with the feedback',
    loop: 'what was called again',
  }[kind];
  const advice = [
    `get_call with call_id ${toWord(example)} shows ${shown}; get_trace with its trace_id and outline what led to it`,
  ];
  const name = tool ?? op ?? '';
  if (kind !== 'error' || name === '' || name.length > 200) return advice;
  const failed = { $eq: [{ $getField: `summary.${serviceName}.status` }, { $literal: 'error' }] };
  const ofTool = { $eq: [{ $getField: 'attributes.tool.name' }, { $literal: tool }] };
  const asked =
    tool === null
      ? { filter: { op_names: [op] }, query: { $expr: failed } }
      : { query: { $expr: { $and: [failed, ofTool] } } };
  return [...advice, `query_calls with ${JSON.stringify(asked)} lists all that failed there`];
};

export const findIssues = runs(description, async (args, context) => {
  const { projectId, state, sort, limit, cursor, maxCharacters } = args;
  const { stores, budget, now } = context;
  const place = cursor === null ? { ...toRange(args, now, usualSpan), offset: 0 } : parseCursor(cursor);
  const { offset } = place;
  const { start, end } = toRange(place, now, usualSpan);
  if (end - start > maxDays * dayMicros)
    throw invalidAt(['body', 'start'], `should be within ${maxDays} days of end`);
  const filter = await withIssueOps(context, projectId, args.filter, { start, end });
  const query = { projectId, start, end, state, filter, sort, limit, offset };
  const { issues, count: all, left_out: leftOut } = await queryIssues(stores, query, budget).answer();
  const notes: string[] = [];
  if (all === 0) {
    const asked = { projectId, filter: everyCall, where: null, range: { start, end } };
    notes.push(...(await checkNames(context, asked, true)));
    if (notes.length === 0) {
      await checkListed(context, projectId, filter, { start, end });
      const every = { ...query, state: null, filter: everyIssue, limit: 1, offset: 0 };
      const { count: others } = await queryIssues(stores, every, budget).answer();
      if (others > 0) notes.push(`${others} issues of the range are in another state or not of the filter`);
    }
  }
  if (leftOut > 0)
    notes.push(`${leftOut} more failures are in no issue, since they are rare among very many`);
  const rows = issues.map(
    ({ series, releases, ...row }): JsonFields => ({ ...row, releases: releases.join(', ') || null }),
  );
  return fitted(maxCharacters, rows.length, (count) => {
    const [first] = issues.slice(0, count);
    const left = all - offset - count;
    const words = `${left} of ${all} issues: find_issues with the cursor, or with a filter`;
    return {
      issues: toTable(rows, saying(issueColumns, rows), count),
      range: shownRange({ start, end }),
      ...(first && { advice: adviseOn(first) }),
      ...(notes.length > 0 && { notes }),
      ...(left > 0 && goesOn(words, count, { start, end, offset })),
    };
  });
});
