import * as z from 'zod/mini';
import {
  count,
  documented,
  field,
  id,
  integerWith,
  listSchema,
  nullish,
  problem,
  record,
  rule,
  time,
  withDefault,
} from '../foundations/wire/schema.ts';
import { endpoint, longAnswer } from './endpoint.ts';
import { direction, filterText, micros, optionalTexts, project, sortText, timestamp } from './fields.ts';
import { namedVersions } from './prompts.ts';
import { issueClass, issueKinds, issueStates, savedIssueStates } from './shared/issues.ts';

/** What `/issues/query` and `/alerts/preview` share: one function answers them, for readers, and writes rollups alone. */
export const lookingBack = {
  handler: 'issues',
  shape: longAnswer,
  stores: {
    calls: 'query',
    payloads: 'read',
    costs: 'read',
    feedback: 'count',
    objects: 'list',
    bookkeeping: 'use',
  },
} as const;

/** The longest range that is asked for at once, in days. */
export const maxDays = 366;

export const dayMicros = 86_400_000_000;

const issueId = z
  .string()
  .check(
    z.refine((text) => /^[0-9a-f]{32}$/.test(text), rule('should be an issue_id: 32 hexadecimal digits')),
  )
  .register(documented, { keywords: { pattern: '^[0-9a-f]{32}$' } });

/** What went wrong. */
export const issueKind = () => z.enum(issueKinds);

const issue = () =>
  z
    .object({
      issue_id: field(z.string(), 'Its id: a digest of kind, operation or tool, and message.'),
      title: field(z.string(), 'The message, with placeholders for what varies: `<id>`, `<n>`, `<path>`.'),
      kind: field(
        issueKind(),
        '`error`: a call failed. `verdict`: an evaluator refused. `feedback`: somebody was not content. `loop`: a trace called a tool with the same arguments, or got the same answer, at least three times within an hour.',
      ),
      op_name: field(
        z.nullable(z.string()),
        'The operation, with `:*` for every version; null if the call is unknown.',
      ),
      tool_name: field(z.nullable(z.string()), 'The tool, if its calls name one.'),
      count: field(count, 'How often it was seen.'),
      trace_count: field(count, 'In how many traces. Exact up to 32, and then within about 7 %.'),
      user_count: field(count, 'By how many end users, as `attributes.user.id` names them; likewise.'),
      first_seen: field(timestamp, 'When it was first seen in the range.'),
      last_seen: field(timestamp, 'When it was last seen in the range.'),
      releases: field(z.array(z.string()), 'The releases that it was seen in; at most 20, by name.'),
      agents: field(
        z.array(
          z.object({
            name: field(
              z.nullable(z.string()),
              'The nearest agent at or above its calls; null outside of agents.',
            ),
            count: field(count, 'How often it was seen there.'),
          }),
        ),
        'Of a loop, how often it was seen in each agent, the most common ones first; at most 50. Empty for other kinds.',
      ),
      state: field(
        z.enum(issueStates),
        '`regressed`: it was resolved, and seen since. `open` if nobody said otherwise.',
      ),
      assignee: field(z.nullable(z.string()), 'Who is to look at it.'),
      note: field(z.nullable(z.string()), 'What somebody noted.'),
      series: field(z.array(count), 'How often it was seen over time: a number for each bucket.'),
      examples: field(z.array(z.string()), 'The latest calls with it, at most three.'),
    })
    .register(documented, { name: 'Issue' });

/** An issue as it is answered. */
export type IssueRow = z.output<ReturnType<typeof issue>>;

/** The fields that issues can be sorted by. Lists are sorted by their length. */
const sortFields = [
  'issue_id',
  'title',
  'kind',
  'op_name',
  'tool_name',
  'count',
  'trace_count',
  'user_count',
  'first_seen',
  'last_seen',
  'releases',
  'state',
  'assignee',
] as const;

export const issuesFilter = () =>
  record({
    issue_ids: field(nullish(listSchema(issueId, 1000)), 'These issues.'),
    kinds: field(nullish(z.array(issueKind())), 'Issues of these kinds.'),
    op_names: optionalTexts('Issues of these operations, as `op_name` names them.'),
    tool_names: optionalTexts('Issues of these tools.'),
    agents: optionalTexts('Loops that were seen in one of these agents.'),
    releases: optionalTexts('Issues that were seen in one of these releases.'),
    assignees: optionalTexts('Issues of these assignees.'),
    first_seen_after: field(nullish(micros), 'Issues that were not seen in the range before this time.'),
  }).register(documented, { name: 'IssuesFilter' });

/** Which issues are wanted; null for any. */
export type IssuesFilter = z.output<ReturnType<typeof issuesFilter>>;

/** A filter that lets every issue through. */
export const everyIssue: IssuesFilter = {
  issueIds: null,
  kinds: null,
  opNames: null,
  toolNames: null,
  agents: null,
  releases: null,
  assignees: null,
  firstSeenAfter: null,
};

/** The states that are wanted: one, several, or null for any. */
export const wantedStates = () =>
  z.pipe(
    nullish(
      z.union([z.enum(issueStates), z.array(z.enum(issueStates))], {
        error: `should be one or a list of ${issueStates.map((state) => JSON.stringify(state)).join(', ')}`,
      }),
    ),
    z.transform((state) => (typeof state === 'string' ? [state] : (state ?? null))),
  );

/** How issues are sorted: by a field downwards if nothing is said. */
export const issuesSort = (usual: (typeof sortFields)[number]) =>
  z.pipe(
    nullish(z.array(z.strictObject({ field: field(z.enum(sortFields), 'What to sort by.'), direction }))),
    z.transform((keys) =>
      (keys?.length ? keys : [{ field: usual, direction: 'desc' } as const]).map((key) => ({
        field: key.field,
        descending: key.direction === 'desc',
      })),
    ),
  );

const fitsRange = z.check<{ readonly start: number; readonly end?: number | null | undefined }>(
  ({ value, issues }) => {
    const { start, end = Date.now() * 1000 } = value;
    if (start >= (end ?? Date.now() * 1000)) issues.push(problem('should be later than start', value, 'end'));
    else if ((end ?? Date.now() * 1000) - start > maxDays * dayMicros)
      issues.push(problem(`should be within ${maxDays} days of end`, value, 'start'));
  },
);

const issuesQueryBody = () =>
  record(
    {
      project_id: project,
      start: field(micros, 'When the range begins, inclusive.'),
      end: field(nullish(micros), 'When it ends, exclusive; now without it. At most 366 days after `start`.'),
      state: field(wantedStates(), 'Issues in this state, or one of these; in any without it.'),
      filter: field(withDefault(issuesFilter(), everyIssue), filterText),
      sort_by: field(
        issuesSort('last_seen'),
        `${sortText} Without it what was seen last comes first. Lists are sorted by their length.`,
      ),
      limit: field(
        withDefault(integerWith(z.minimum(0), z.maximum(1000)), 100),
        'The most to answer, at most 1000; 100 without it.',
      ),
      offset: field(withDefault(count, 0), 'How many to skip first.'),
    },
    { sort_by: 'sort' },
    ({ end }) => ({ end: end ?? Date.now() * 1000 }),
    fitsRange,
  );

/** A query over the issues of a project. Its start is inclusive, its end exclusive, in microseconds. */
export type IssuesQuery = z.output<ReturnType<typeof issuesQueryBody>>;

const issuesAnswer = () =>
  z.object({
    start: field(timestamp, 'The beginning, inclusive.'),
    end: field(timestamp, 'The end, exclusive.'),
    series_start: field(timestamp, 'When the first bucket of each `series` begins.'),
    granularity: field(z.int(), 'Seconds of a bucket: an hour up to a week, else a day of UTC.'),
    count: field(count, 'How many issues match, without `limit` and `offset`.'),
    left_out: field(
      count,
      'How often something was seen that is in no issue: of an hour or a day, at most the 500 most common issues are told apart.',
    ),
    releases: field(
      z.array(
        z.object({
          release: field(z.string(), 'As `attributes.release` names it.'),
          first_seen: field(timestamp, 'When its first call of the range started.'),
        }),
      ),
      'The releases that ran in the range, the newest first; at most 20.',
    ),
    issues: field(z.array(issue()), 'The issues.'),
  });

/** What is answered of issues. */
export type IssuesAnswer = z.output<ReturnType<typeof issuesAnswer>>;

export const issuesQuery = /* @__PURE__ */ endpoint({
  ...lookingBack,
  tag: 'issues',
  path: '/issues/query',
  name: 'IssuesQuery',
  summary: 'Group failures as issues',
  description:
    'What went wrong in a range, grouped by kind, operation or tool, and message: failed calls, verdicts of evaluators that refuse, bad feedback, and loops. Ids, numbers, times, paths, URLs, e-mail addresses and quoted values are taken out of messages. A failure that calls pass on counts once, where it began. Only calls of production count. Errors and loops are seen when their call started, verdicts and feedback when they were given.',
  request: issuesQueryBody,
  answer: issuesAnswer,
  examples: {
    october: {
      summary: 'The open issues of a day',
      body: {
        project_id: 'acme/shop',
        start: '2026-10-01T00:00:00Z',
        end: '2026-10-02T00:00:00Z',
        state: 'open',
        sort_by: [{ field: 'count', direction: 'desc' }],
        limit: 20,
      },
      answer: {
        start: '2026-10-01T00:00:00.000000Z',
        end: '2026-10-02T00:00:00.000000Z',
        series_start: '2026-10-01T00:00:00.000000Z',
        granularity: 3600,
        count: 0,
        left_out: 0,
        releases: [],
        issues: [],
      },
    },
  },
});

const assignee = z.string().check(z.minLength(1), z.maxLength(256));
const note = z.string().check(z.maxLength(4000));

/** The value of an object of class `Issue`: what people decided on an issue. */
export const savedIssue = () =>
  record(
    {
      _type: field(z.literal(issueClass), 'Its class.'),
      state: field(z.enum(savedIssueStates), 'What was decided.'),
      resolved_at: field(nullish(time), 'When it was resolved; what is seen later is a regression.'),
      assignee: field(nullish(assignee), 'Who is to look at it.'),
      note: field(nullish(note), 'What somebody noted.'),
      saved_at: field(nullish(time), 'When it was saved.'),
    },
    { _type: 'type' },
  ).register(documented, { name: 'SavedIssue' });

/** What people decided on an issue, checked. */
export type SavedIssue = z.output<ReturnType<typeof savedIssue>>;

const issuesUpdateBody = () =>
  z.pipe(
    z.strictObject({
      project_id: project,
      issue_id: field(issueId, 'The issue.'),
      state: field(
        z.optional(z.nullable(z.enum(savedIssueStates))),
        '`resolved` lets it come back as regressed, `ignored` does not; as it is without it.',
      ),
      assignee: field(z.optional(z.nullable(assignee)), 'Who is to look at it; null for nobody.'),
      note: field(z.optional(z.nullable(note)), 'A note, in place of the one before; null for none.'),
    }),
    z.transform(({ project_id: projectId, issue_id, ...change }) => ({
      projectId,
      issueId: issue_id,
      change,
    })),
  );

/** A change of what is decided on an issue: what is undefined stays. */
export type IssueUpdate = z.output<ReturnType<typeof issuesUpdateBody>>;

export const issuesUpdate = /* @__PURE__ */ endpoint({
  ...namedVersions,
  tag: 'issues',
  path: '/issues/update',
  role: 'write',
  name: 'IssuesUpdate',
  summary: 'Resolve, ignore or assign an issue',
  description:
    'Says what became of an issue. It is kept as an object of class `Issue` whose `object_id` is `issue-<issue_id>`, so its versions are its history. Fields that are left out stay as they are.',
  request: issuesUpdateBody,
  answer: () =>
    z.object({
      object_id: field(id, 'The object that has it.'),
      state: field(z.enum(savedIssueStates), 'The state that was saved.'),
      assignee: field(z.nullable(z.string()), 'Who is to look at it.'),
      note: field(z.nullable(z.string()), 'What is noted.'),
    }),
  examples: {},
});

/** The endpoints of this file. Their examples run in this order. */
export const issueRoutes = [issuesQuery, issuesUpdate] as const;
