import { dayMicros, everyIssue, type IssueRow, type IssuesFilter, maxDays } from '../../../api/issues.ts';
import { everyCall } from '../../../api/queries.ts';
import { judgedBy } from '../../../api/shared/evaluators.ts';
import { complaintIn, refusalIn } from '../../../api/shared/issues.ts';
import { findIssues as description } from '../../../api/tools.ts';
import {
  asString,
  invalidAt,
  type Micros,
  type ProjectId,
  serviceName,
} from '../../../foundations/wire/index.ts';
import { queryIssues, toOpName } from '../../questions/issues/index.ts';
import { maxGroups, readCalls, readStats, saying, toFields, toTable, wholeRange } from './calls.ts';
import { runs, type ToolContext } from './context.ts';
import { toWord } from './mend.ts';
import { checkNames, countNames, suggested, withKnownOps } from './names.ts';
import { goesOn, parseCursor, type Range, toRange, usualRange } from './range.ts';
import { fitted, isFields, type JsonFields } from './reply.ts';
import { feedbackOn } from './values.ts';

/** How far issues without a start look back: seven days. */
const usualSpan = 7 * dayMicros;

const issueColumns = [
  'title',
  'said',
  'kind',
  'op_name',
  'tool_name',
  'count',
  'trace_count',
  'user_count',
  'first_seen',
  'last_seen',
  'call_started_at',
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
export const adviseOn = ({
  kind,
  op_name: op,
  tool_name: tool,
  releases,
  examples: [example],
}: IssueRow): string[] => {
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
  const byRelease = { ...asked, group_by: ['attributes.release'], call_metrics: [{ metric: 'call_count' }] };
  return [
    ...advice,
    `query_calls with ${JSON.stringify(asked)} lists all that failed there`,
    ...(releases.length > 1 ? [`get_stats with ${JSON.stringify(byRelease)} counts them by release`] : []),
  ];
};

/** What was said of a call may be longer. */
const maxSaid = 200;

/** Where payloads of feedback have words. */
const wordsIn = ['reason', 'note', 'comment', 'text', 'message', 'explanation'];

const saidIn = (payload: JsonFields): string | undefined =>
  wordsIn.flatMap((name) => asString(payload[name]) || [])[0];

/** Whether a record of feedback is one of those that an issue groups. */
const isOfIssue = ({ kind, title }: IssueRow, { feedback_type: type, payload }: JsonFields): boolean => {
  if (typeof type !== 'string' || !isFields(payload)) return false;
  const evaluator = judgedBy(type);
  return kind === 'verdict'
    ? evaluator !== undefined && title === `${evaluator}: ${refusalIn(payload)}`
    : complaintIn(type, payload) === title;
};

/** One reason or note of each issue of verdicts and of feedback, and when its call started, by the issues' ids. */
const readSaid = async (
  context: ToolContext,
  projectId: ProjectId,
  issues: readonly IssueRow[],
): Promise<ReadonlyMap<string, JsonFields>> => {
  const given = issues.filter(({ kind }) => kind === 'verdict' || kind === 'feedback');
  const callIds = [...new Set(given.flatMap(({ examples: [first] }) => first ?? []))];
  if (callIds.length === 0) return new Map();
  const query = { projectId, filter: { ...everyCall, callIds }, columns: ['feedback'] };
  const calls = new Map((await readCalls(context, query)).map((call) => [call.id, call]));
  return new Map(
    given.flatMap((issue) => {
      const call = calls.get(issue.examples[0]);
      if (!call) return [];
      const records = feedbackOn(call).toReversed();
      const own = records.filter((record) => isOfIssue(issue, record));
      const notes = records.filter(({ feedback_type: type }) => type === 'note');
      const texts = [...own, ...notes].flatMap(({ payload }) => saidIn(toFields(payload)) ?? []);
      const said = texts[0]?.slice(0, maxSaid).toWellFormed();
      return [[issue.issue_id, { said, call_started_at: call.started_at }] as const];
    }),
  );
};

/** More calls than this are not looked through for the traces that they are of. */
const maxCounted = 20_000;

/** How much of a range was looked at, in words; undefined if there is nothing. */
const lookedAt = async (
  context: ToolContext,
  projectId: ProjectId,
  { start, end }: { readonly start: Micros; readonly end: Micros },
): Promise<string | undefined> => {
  const count = async (metric: 'call_count' | 'trace_count'): Promise<number> => {
    const { call_buckets } = await readStats(context, {
      projectId,
      start,
      end,
      granularity: wholeRange,
      timezone: 'UTC',
      filter: { ...everyCall, sources: ['production'] },
      where: null,
      groupBy: [],
      groupByFeedback: null,
      calls: [{ metric, aggregations: ['sum'], percentiles: [] }],
      usage: [],
    });
    return Number(call_buckets[0]?.[`sum_${metric}`] ?? 0);
  };
  const calls = await count('call_count');
  if (calls === 0) return undefined;
  return calls > maxCounted ? `${calls} calls` : `${await count('trace_count')} traces of ${calls} calls`;
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
  if (all === 0) {
    const kinds = args.filter.kinds?.map((kind) => `${kind}s`).join(', ') || 'issues';
    const range = await lookedAt(context, projectId, { start, end });
    if (range !== undefined) notes.push(`none of these ${kinds} in ${range} of production`);
  }
  if (leftOut > 0)
    notes.push(`${leftOut} more failures are in no issue, since they are rare among very many`);
  const said = await readSaid(context, projectId, issues);
  const rows = issues.map(
    ({ series, releases, ...row }): JsonFields => ({
      ...row,
      ...said.get(row.issue_id),
      releases: releases.join(', ') || null,
    }),
  );
  if (said.size > 0)
    notes.push(
      'verdicts and feedback are seen when they were given; call_started_at is of the first example',
    );
  return fitted(maxCharacters, rows.length, (count) => {
    const [first] = issues.slice(0, count);
    const left = all - offset - count;
    const words = `${left} of ${all} issues: find_issues with the cursor, or with a filter`;
    return {
      issues: toTable(rows, saying(issueColumns, rows), count),
      ...usualRange(args, { start, end }),
      ...(first && { advice: adviseOn(first) }),
      ...(notes.length > 0 && { notes }),
      ...(left > 0 && goesOn(words, count, { start, end, offset })),
    };
  });
});
