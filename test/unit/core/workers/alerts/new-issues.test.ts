import { describe, expect, it } from 'vitest';
import { eventDetails } from '../../../../../api/openapi/events.ts';
import { Tally } from '../../../../../core/questions/issues/tally.ts';
import {
  countNew,
  issueEvent,
  type KnownIssues,
  newestIssues,
  noKnownIssues,
  noteIssues,
} from '../../../../../core/workers/alerts/new-issues.ts';
import { createLinks } from '../../../../../foundations/links.ts';
import type { Micros, ProjectId } from '../../../../../foundations/wire/index.ts';

const minute = 60_000_000;
const day = 1440 * minute;
/** The end of a look, some time on a day. */
const end = 20_000 * day + 600 * minute;
const project = 'acme/shop' as ProjectId;
const links = createLinks('https://traces.example/api');

const issue = (number: number): string => number.toString(16).padStart(16, '0').padEnd(32, 'f');

const tally = (...minutesAgo: readonly number[]): Tally => {
  const about = { kind: 'error', message: 'KeyError: <value>', opName: 'pay', toolName: null } as const;
  const made = new Tally(about);
  for (const ago of minutesAgo)
    made.add({
      ...about,
      at: end - ago * minute,
      callId: `c${ago}`,
      traceId: 't',
      userId: null,
      release: '1.2',
    });
  return made;
};

const later = { end, since: end - minute, isFirst: false };
const watched: KnownIssues = { ...noKnownIssues, until: end - minute };
const none = new Map<string, never>();

const resolved = (minutesAgo: number) => decided('resolved', end - minutesAgo * minute);
const decided = (state: 'resolved' | 'ignored' | 'open', resolvedAt?: Micros) =>
  new Map([
    [issue(1), { type: 'Issue' as const, state, resolvedAt, assignee: null, note: null, savedAt: null }],
  ]);

const lastHour = [end - 60 * minute, end] as const;

describe('an issue', () => {
  it('is new once, however often it is seen again', () => {
    const first = noteIssues(watched, new Map([[issue(1), [tally(0.5)]]]), none, later);
    expect(first.opened).toMatchObject([
      {
        issueId: issue(1),
        title: 'KeyError: <value>',
        at: end - 0.5 * minute,
        resolvedAt: null,
        isTold: false,
      },
    ]);
    expect(countNew(first.known, lastHour)).toBe(1);
    const again = noteIssues(first.known, new Map([[issue(1), [tally(0.5, 0.1)]]]), none, later);
    expect(again).toMatchObject({ opened: [], changed: false });
    expect(countNew(again.known, lastHour)).toBe(1);
  });

  it('waits for the next look if it is seen first after the end of this one', () => {
    const { opened, known } = noteIssues(watched, new Map([[issue(1), [tally(-1)]]]), none, later);
    expect({ opened, size: known.issues.size }).toEqual({ opened: [], size: 0 });
  });

  it('counts when it is found, if its call was reported late', () => {
    const { opened, known } = noteIssues(watched, new Map([[issue(1), [tally(30)]]]), none, later);
    expect(opened).toMatchObject([{ at: end - minute, isTold: false }]);
    expect(countNew(known, [end - 5 * minute, end])).toBe(1);
  });

  it('is told by nobody who looks for the first time, or that happened while nobody looked', () => {
    const seen = new Map([[issue(1), [tally(30)]]]);
    const first = noteIssues(noKnownIssues, seen, none, { ...later, since: 0, isFirst: true });
    expect(first.opened).toMatchObject([{ at: end - 30 * minute, isTold: true }]);
    const old = noteIssues(watched, new Map([[issue(2), [tally(2000)]]]), none, later);
    expect(old.opened).toMatchObject([{ at: end - 2000 * minute, isTold: true }]);
  });

  it('is new again when it comes back after it was resolved, once', () => {
    const { known } = noteIssues(watched, new Map([[issue(1), [tally(50)]]]), none, {
      ...later,
      end: end - 45 * minute,
      since: 0,
    });
    const back = new Map([[issue(1), [tally(50), tally(10, 5)]]]);
    const decision = resolved(20);
    const found = noteIssues(known, back, decision, { ...later, since: end - 60 * minute });
    expect(found.opened).toMatchObject([{ at: end - 10 * minute, resolvedAt: end - 20 * minute }]);
    expect(noteIssues(found.known, back, decision, later).opened).toEqual([]);
    const twice = noteIssues(found.known, new Map([[issue(1), [tally(0.5)]]]), resolved(1), later);
    expect(twice.opened).toMatchObject([{ resolvedAt: end - minute }]);
  });

  it.each([
    ['ignored', decided('ignored')],
    ['resolved since', resolved(0)],
  ] as const)('is not new if it is %s, but known', (_, decision) => {
    const { opened, known } = noteIssues(watched, new Map([[issue(1), [tally(0.5)]]]), decision, later);
    expect(opened).toEqual([]);
    expect(known.issues.size).toBe(1);
    expect(countNew(known, lastHour)).toBe(0);
  });

  it('is new although somebody was quick to assign it', () => {
    const seen = new Map([[issue(1), [tally(0.5)]]]);
    expect(noteIssues(watched, seen, decided('open'), later).opened).toHaveLength(1);
  });
});

describe('what is known', () => {
  const issuesSeen = (from: number, to: number, minutesAgo: number) =>
    new Map(Array.from({ length: to - from }, (_, i) => [issue(from + i), [tally(minutesAgo)]] as const));

  it('is bounded: the issues that were seen last stay, and none for longer than 90 days', () => {
    const first = { ...later, since: 0, isFirst: true };
    const { known: old } = noteIssues(noKnownIssues, issuesSeen(0, 500, 3 * 1440), none, first);
    const { known } = noteIssues(old, issuesSeen(500, 2400, 10), none, first);
    expect(known.issues.size).toBe(2000);
    expect(known.issues.has(issue(2399).slice(0, 16))).toBe(true);
    expect(known.opened).toHaveLength(20);
    const after = noteIssues(known, new Map(), none, { ...later, end: end + 91 * day });
    expect(after.known).toMatchObject({ issues: new Map(), opened: [] });
  });

  it('takes the new issues of a burst look by look, and what it has no room for as none', () => {
    let known = watched;
    const counts: number[] = [];
    for (let look = 0; look < 4; look++) {
      const found = noteIssues(known, issuesSeen(0, 250, 0.5), none, later);
      counts.push(found.opened.length);
      known = found.known;
    }
    expect(counts).toEqual([100, 100, 50, 0]);
    const full = noteIssues(noKnownIssues, issuesSeen(0, 2500, 10), none, {
      ...later,
      since: 0,
      isFirst: true,
    });
    expect(full.opened).toHaveLength(2000);
    const again = noteIssues(full.known, issuesSeen(0, 2500, 10), none, later);
    expect(again).toMatchObject({ opened: [], changed: false });
  });

  it('gives up what could not be told within a day, and stores when it has looked last, once an hour', () => {
    const { known } = noteIssues(watched, new Map([[issue(1), [tally(0.5)]]]), none, later);
    expect(known.opened).toMatchObject([{ isTold: false }]);
    const soon = noteIssues(known, new Map(), none, { ...later, end: end + 59 * minute });
    expect(soon).toMatchObject({ changed: false, known: { opened: [{ isTold: false }] } });
    const late = noteIssues(known, new Map(), none, { ...later, end: end + day + minute });
    expect(late).toMatchObject({ changed: true, known: { opened: [{ isTold: true }] } });
  });
});

describe('what is told', () => {
  const { known } = noteIssues(watched, new Map([[issue(1), [tally(0.5, 0.2)]]]), none, later);
  const [opened] = known.opened;
  if (!opened) throw new Error('nothing was new');

  it('is as its schema says, by an id that is the same until the issue is resolved', () => {
    const { detail } = issueEvent(project, opened, links);
    expect(eventDetails().IssueOpened.parse(detail)).toMatchObject({
      issue_id: issue(1),
      state: 'open',
      call_ref: 'svc:///acme/shop/call/c0.5',
      releases: ['1.2'],
    });
    const same = issueEvent(project, { ...opened, at: opened.at + minute, callId: 'other' }, links);
    expect(same.detail.event_id).toBe(detail.event_id);
    const back = issueEvent(project, { ...opened, resolvedAt: end }, links);
    expect(back.detail).toMatchObject({ state: 'regressed' });
    expect(back.detail.event_id).not.toBe(detail.event_id);
  });

  it('names the newest issues of the window in messages', () => {
    expect(newestIssues(known, lastHour, project, links)).toEqual([
      { label: 'KeyError: <value>', value: 1, call_id: 'c0.5', link: links.call(project, 'c0.5') },
    ]);
    expect(newestIssues(known, [end - 60 * minute, end - minute], project, links)).toEqual([]);
  });
});
