/** What a question about issues reads of a month of a million calls that is rolled up. */

import { getBodySchema } from '../../api/endpoint.ts';
import { issuesQuery } from '../../api/issues.ts';
import { issueClass, toIssueObject } from '../../api/shared/issues.ts';
import { queryIssues } from '../../core/questions/issues/index.ts';
import { type IssuesOfDay, storeIssues } from '../../core/questions/issues/rollups.ts';
import { Tallies } from '../../core/questions/issues/tally.ts';
import { createObject } from '../../core/records/objects/index.ts';
import { hoursOfDay, toHour } from '../../core/records/rollups.ts';
import { shortDigest } from '../../foundations/encoding/index.ts';
import { formatTime, type Micros, type ProjectId } from '../../foundations/wire/index.ts';
import { parseBody } from '../../foundations/wire/schema.ts';
import { type Bench, type BenchPart, totalUnits } from '../harness/bench.ts';
import { counted, type Figure } from '../harness/figures.ts';
import { benchBudget } from '../harness/reporting.ts';

const bodySchema = getBodySchema(issuesQuery);
const projectId = 'acme/shop' as ProjectId;
const hour: Micros = 3_600_000_000;
const monthBegin: Micros = Date.UTC(2026, 8, 1) * 1000;
const days = 30;
const calls = 1_000_000;
const callsAnHour = calls / (days * hoursOfDay);

/** What is decided: on each of the most common issues. */
const decided = 50;
/** What a month may take. */
const mostUnits = 300;

/** Digits as letters: no rule takes such words for ids, so each makes a message of its own. */
const wordOf = (number: number): string =>
  String(number).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '');

/** A number between 0 and 1 that is as good as random, and always the same. */
const chance = (number: number): number => shortDigest(String(number)).readUInt32BE() / 2 ** 32;

/** How often calls go wrong, and how many different messages that gives. */
interface Kind {
  readonly name: string;
  readonly share: number;
  /** The message of the failure of this number: small numbers are common. */
  readonly pick: (number: number) => number;
}

const kinds: readonly Kind[] = [
  { name: '1 % fail with 200 messages', share: 0.01, pick: (i) => Math.floor(200 ** chance(i)) },
  { name: 'all fail with 400 messages', share: 1, pick: (i) => Math.floor(400 * chance(i)) },
  { name: 'all fail with messages of their own', share: 1, pick: (i) => i },
];

/** The issues of an hour, as they are found in its calls. */
const makeHour = ({ share, pick }: Kind, at: number): Tallies => {
  const tallies = new Tallies();
  const count = Math.round(callsAnHour * share);
  tallies.calls = Math.round(callsAnHour);
  for (let i = 0; i < count; i++) {
    const number = at * count + i;
    const id = `01a0f4c2-${wordOf(number)}-${Math.floor(chance(number) * 2 ** 32).toString(16)}-${Math.floor(chance(-number) * 2 ** 32).toString(16)}`;
    tallies.see({
      kind: 'error',
      opName: `svc:///${projectId}/op/step-${pick(number) % 20}:*`,
      toolName: null,
      message: `ToolError: the service ${wordOf(pick(number))} gave no answer within <n>s`,
      at: monthBegin + at * hour + Math.floor((i * hour) / count),
      callId: `call-${id}`,
      traceId: `trace-${id}`,
      userId: `user-${number % 5000}`,
      release: `1.${at % 4}.0`,
    });
  }
  tallies.seeRelease(`1.${at % 4}.0`, monthBegin + at * hour);
  tallies.bound();
  return tallies;
};

/** Days that are all like the first one: what rollups take does not depend on what others have. */
const makeDays = (kind: Kind, from: number, to: number, byDay: boolean): IssuesOfDay[] => {
  const hours = Array.from({ length: hoursOfDay }, (_, at) => makeHour(kind, at));
  const whole = new Tallies();
  for (const tallies of hours) whole.merge(tallies);
  whole.bound();
  return Array.from({ length: to - from }, (_, i) => {
    const day = toHour(monthBegin) / hoursOfDay + from + i;
    if (byDay) return { kind: 'issueDays', day, rollups: [{ number: day, mark: 0, tallies: whole }] };
    const rollups = hours.map((tallies, at) => ({ number: day * hoursOfDay + at, mark: 0, tallies }));
    return { kind: 'issuePages', day, rollups };
  });
};

const kindFigures = async (bench: Bench, kind: Kind): Promise<Figure[]> => {
  const { table } = await bench.newStore('bookkeeping');
  const objects = await bench.newStore('objects');
  const sources = {
    calls: { ...(await bench.newStore('calls')), bookkeeping: table },
    feedback: await bench.newStore('feedback'),
    objects,
  };
  const ask = (from: number, to: number) => {
    const body = {
      project_id: projectId,
      start: formatTime(monthBegin + from * hoursOfDay * hour),
      end: formatTime(monthBegin + to * hoursOfDay * hour),
      sort_by: [{ field: 'count', direction: 'desc' }],
      limit: 1000,
    };
    return queryIssues(sources, parseBody(bodySchema, JSON.stringify(body)), benchBudget()).answer();
  };
  // One after the other, since days have the same issues, and what does not fit is taken out of them.
  const store = async (days: readonly IssuesOfDay[]): Promise<void> => {
    for (const day of days) await storeIssues(table, projectId, [day], () => undefined, benchBudget());
  };
  // A month is asked for by the day, and its last week by the hour.
  await store(makeDays(kind, 0, days, true));
  await store(makeDays(kind, days - 7, days, false));
  const { issues, count, left_out } = await ask(0, days);
  const seen = issues.reduce((sum, { count }) => sum + count, left_out);
  const expected = days * hoursOfDay * Math.round(callsAnHour * kind.share);
  if (count === issues.length && seen !== expected)
    throw new Error(`of ${expected} failures, ${seen} are answered`);
  for (const { issue_id } of issues.slice(0, decided))
    await createObject(
      objects,
      {
        projectId,
        objectId: toIssueObject(issue_id),
        val: { _type: issueClass, state: 'resolved', assignee: 'ada@example.com', saved_at: formatTime(0) },
      },
      'ada',
      benchBudget(),
    );
  const month = await bench.capacity.during(() => ask(0, days));
  const week = await bench.capacity.during(() => ask(days - 7, days));
  return [
    counted(`${kind.name}, a month: read units`, 'units', totalUnits(month.reads), {
      atMost: mostUnits,
      of: month.reads,
    }),
    counted(`${kind.name}, a month: issues`, 'issues', count),
    counted(`${kind.name}, a week: read units`, 'units', totalUnits(week.reads)),
  ];
};

/** Read units of warm questions about issues of a month, and of a week. */
export const issueFigures = async (bench: Bench): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const kind of kinds) figures.push(...(await kindFigures(bench, kind)));
  return figures;
};

/** Read units of warm questions about issues. */
export const issuePart: BenchPart = {
  name: 'issues',
  title: `Issues of a month of ${calls} calls that is rolled up`,
  run: async ({ bench }) => issueFigures(await bench()),
};
