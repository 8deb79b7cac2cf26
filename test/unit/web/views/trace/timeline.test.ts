import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../../../../web/api/calls.ts';
import { toMembers } from '../../../../../web/calls/trace/parts.ts';
import { toLines, toTree } from '../../../../../web/calls/trace/tree.ts';
import {
  barAt,
  fitWindow,
  panned,
  readWindow,
  revealed,
  toCriticalPath,
  toDrawn,
  toLanes,
  toTicks,
  waitOf,
  windowText,
  zoomed,
} from '../../../../../web/views/trace/timeline.ts';

interface Made {
  readonly id: string;
  readonly at: readonly [start: number, end: number];
  readonly parent?: string;
  readonly agent?: string;
  readonly waited?: number;
  readonly waiting?: boolean;
}

const makeRow = ({ id, at: [start, end], parent, agent, waited, waiting }: Made): CallRow =>
  ({
    id,
    project_id: 'a/b',
    parent_id: parent ?? null,
    trace_id: 't',
    op_name: id,
    started_at: new Date(start).toISOString(),
    ended_at: new Date(end).toISOString(),
    ...(agent && { attributes: { agent: { name: agent } } }),
    summary: {
      svc: { status: 'success', ...(waited && { waited_ms: waited }), ...(waiting && { waiting }) },
    },
  }) as unknown as CallRow;

const toForest = (calls: readonly Made[]) => toTree(calls.map(makeRow), 0);

const lanesOf = (calls: readonly Made[]) => toLanes(toMembers(toLines(toForest(calls))));

const told = (calls: readonly Made[]) =>
  lanesOf(calls).map(({ agent, rows }) => [
    agent,
    ...rows.map((bars) => bars.map(({ node }) => node.call.id).join(' ')),
  ]);

describe('lanes of a timeline', () => {
  it('are of agents in the order in which they began, with nested calls below each other', () => {
    const calls: Made[] = [
      { id: 'root', at: [0, 100] },
      { id: 'lead', at: [10, 90], parent: 'root', agent: 'lead' },
      { id: 'chat', at: [10, 30], parent: 'lead' },
      { id: 'tool', at: [30, 60], parent: 'lead' },
      { id: 'helper', at: [35, 55], parent: 'tool', agent: 'helper' },
      { id: 'back', at: [40, 50], parent: 'helper', agent: 'lead' },
    ];
    expect(told(calls)).toEqual([
      ['agent:', 'root'],
      ['agent:lead', 'lead', 'chat tool', 'back'],
      ['agent:helper', 'helper'],
    ]);
  });

  it('stack calls that overlap, and those that start at the same moment', () => {
    const calls: Made[] = [
      { id: 'a', at: [0, 50] },
      { id: 'b', at: [10, 20] },
      { id: 'c', at: [20, 70] },
      { id: 'd', at: [50, 50] },
      { id: 'e', at: [50, 50] },
    ];
    expect(told(calls)).toEqual([['agent:', 'a d', 'b c', 'e']]);
  });

  it('never have two bars over each other, whatever their times are', () => {
    const times = fc.array(fc.tuple(fc.nat(200), fc.nat(60), fc.nat(12), fc.nat(3)), { maxLength: 60 });
    fc.assert(
      fc.property(times, (all) => {
        const calls = all.map(([start, length, parent, agent], at): Made => {
          const above = {
            ...(parent < at && { parent: `c${parent}` }),
            ...(agent > 0 && { agent: `a${agent}` }),
          };
          return { id: `c${at}`, at: [start, start + length], ...above };
        });
        const lanes = lanesOf(calls);
        const bars = lanes.flatMap(({ rows }) => rows.flat());
        expect(bars.length).toBe(calls.length);
        for (const { rows } of lanes)
          for (const row of rows)
            for (const [at, bar] of row.entries()) {
              const before = row[at - 1];
              if (before) expect(bar.start >= before.end && bar.start > before.start).toBe(true);
            }
      }),
    );
  });
});

describe('a wait for a person', () => {
  const waitOfFirst = (calls: readonly Made[]) => waitOf(toForest(calls)[0] ?? expect.fail('no call'));

  it('is where nothing ran below the call', () => {
    const child: Made = { id: 'child', at: [0, 40], parent: 'a' };
    expect(waitOfFirst([{ id: 'a', at: [0, 100], waited: 50 }, child])).toEqual({ start: 40, end: 90 });
  });

  it('is no longer than the call, and lasts as long as nobody answers', () => {
    expect(waitOfFirst([{ id: 'a', at: [0, 100], waited: 500 }])?.end).toBe(100);
    expect(waitOfFirst([{ id: 'a', at: [0, 100], waiting: true }])).toEqual({ start: 0, end: 100 });
    expect(waitOfFirst([{ id: 'a', at: [0, 100] }])).toBeUndefined();
  });
});

describe('the critical path', () => {
  const pathOf = (calls: readonly Made[]) =>
    toCriticalPath(toForest(calls)).map(({ id, start, end }) => `${id} ${start}-${end}`);

  it('goes back from the end through what ended last before', () => {
    const calls: Made[] = [
      { id: 'root', at: [0, 100] },
      { id: 'quick', at: [10, 30], parent: 'root' },
      { id: 'slow', at: [10, 60], parent: 'root' },
      { id: 'inner', at: [20, 50], parent: 'slow' },
      { id: 'last', at: [60, 90], parent: 'root' },
    ];
    expect(pathOf(calls)).toEqual([
      'root 0-10',
      'slow 10-20',
      'inner 20-50',
      'slow 50-60',
      'last 60-90',
      'root 90-100',
    ]);
  });

  it('covers all of a trace once, even of several roots and of calls that outlast theirs', () => {
    expect(
      pathOf([
        { id: 'a', at: [0, 50] },
        { id: 'late', at: [40, 80], parent: 'a' },
        { id: 'b', at: [50, 70] },
      ]),
    ).toEqual(['a 0-40', 'late 40-50', 'b 50-70']);
    expect(pathOf([])).toEqual([]);
  });

  it('is found in calls that are nested as deeply as clients like', () => {
    const calls = Array.from(
      { length: 20_000 },
      (_, at): Made => ({
        id: `c${at}`,
        at: [0, 100],
        ...(at > 0 && { parent: `c${at - 1}` }),
      }),
    );
    expect(pathOf(calls)).toEqual(['c19999 0-100']);
  });
});

describe('the window of a timeline', () => {
  const whole = { start: 1000, end: 2000 };

  it('keeps the moment under the pointer where it is, and looks no closer than a millisecond', () => {
    expect(zoomed(whole, 0.5, 1200, whole)).toEqual({ start: 1100, end: 1600 });
    const closest = Array.from({ length: 60 }).reduce(
      (window: typeof whole) => zoomed(window, 0.5, 1200, whole),
      whole,
    );
    expect(closest.end - closest.start).toBeCloseTo(1);
    expect(closest.start).toBeLessThanOrEqual(1200);
    expect(zoomed(closest, 1e9, 1200, whole)).toEqual(whole);
  });

  it('stays within the trace', () => {
    expect(panned({ start: 1100, end: 1300 }, 1, whole)).toEqual({ start: 1300, end: 1500 });
    expect(panned({ start: 1100, end: 1300 }, -9, whole)).toEqual({ start: 1000, end: 1200 });
    expect(fitWindow({ start: 1990, end: 3000 }, whole)).toEqual(whole);
    expect(fitWindow({ start: 5, end: 5 }, { start: 5, end: 5 })).toEqual({ start: 5, end: 6 });
  });

  it('goes to a bar that is not in sight, and stays for one that is', () => {
    const window = { start: 1000, end: 1100 };
    expect(revealed(window, { start: 1090, end: 1500 }, whole)).toBe(window);
    expect(revealed(window, { start: 1500, end: 1520 }, whole)).toEqual({ start: 1460, end: 1560 });
  });

  it('has round moments', () => {
    expect(toTicks({ start: 1000, end: 1010 }, 1000, 5)).toEqual([0, 2, 4, 6, 8, 10]);
    expect(toTicks({ start: 0, end: 120_000 }, 0, 6)).toEqual([0, 30_000, 60_000, 90_000, 120_000]);
    expect(toTicks({ start: 5, end: 6 }, 0, 6).length).toBeGreaterThan(2);
  });
});

describe('the window in the URL', () => {
  const whole = { start: 1_790_000_000_000, end: 1_790_000_010_000 };
  const from = (start: number, end: number) => ({ start: whole.start + start, end: whole.start + end });

  it('is told from the start of the trace, to the microsecond where that can be seen', () => {
    expect(windowText(from(12.5, 13.5), whole)).toBe('12.5-13.5');
    expect(windowText(from(12.34567, 13.9), whole)).toBe('12.346-13.9');
    expect(windowText(from(2000.4, 7000.6), whole)).toBe('2000-7001');
    expect(windowText(whole, whole)).toBeUndefined();
    expect(windowText(from(-500, 20_000), whole)).toBeUndefined();
  });

  it('is the same once it is read, within a millionth of the trace', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 9000, noNaN: true }),
        fc.integer({ min: 1, max: 900 }),
        (at, length) => {
          const window = fitWindow(from(at, at + length), whole);
          const read = readWindow(windowText(window, whole), whole);
          expect(read?.start).toBeCloseTo(window.start, 2);
          expect(read?.end).toBeCloseTo(window.end, 2);
        },
      ),
    );
    expect(readWindow(undefined, whole)).toBeUndefined();
  });
});

describe('what is drawn of a row', () => {
  const bars = Array.from({ length: 1000 }, (_, at) => ({
    start: at * 10,
    end: at * 10 + 8,
    isError: at === 500,
  }));

  it('is what is in sight', () => {
    const drawn = toDrawn(bars, { start: 2004, end: 2035 }, 310);
    expect(drawn.map(({ bar, x, width }) => [bar.start, x, width])).toEqual([
      [2000, -40, 80],
      [2010, 60, 80],
      [2020, 160, 80],
      [2030, 260, 80],
    ]);
  });

  it('is one where bars are narrower than a pixel, with the errors among them', () => {
    const drawn = toDrawn(bars, { start: 0, end: 10_000 }, 100);
    expect(drawn.length).toBeLessThanOrEqual(101);
    expect(drawn.reduce((sum, { count }) => sum + count, 0)).toBe(1000);
    expect(drawn.some(({ isError }) => isError)).toBe(true);
  });

  it('is found under the pointer, or near it', () => {
    const row = toLanes(
      toMembers(
        toLines(
          toForest([
            { id: 'a', at: [0, 10] },
            { id: 'b', at: [20, 20] },
          ]),
        ),
      ),
    )[0]?.rows[0];
    const at = (moment: number, near = 3) => barAt(row ?? [], moment, near)?.node.call.id;
    expect([at(5), at(12), at(15), at(19), at(30), at(22, 1)]).toEqual([
      'a',
      'a',
      undefined,
      'b',
      undefined,
      undefined,
    ]);
  });
});
