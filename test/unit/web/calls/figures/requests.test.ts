import { describe, expect, it } from 'vitest';
import { toPeriod } from '../../../../../web/calls/figures/requests.ts';

const project = 'acme/shop';
const now = Date.parse('2026-10-02T12:00:30Z');

describe('the period of the overview', () => {
  it('is the last day without a choice, to the end of the present minute', () => {
    const { start, end, before, granularity } = toPeriod({ project }, now);
    expect([start, end].map((ms) => new Date(ms).toISOString())).toEqual([
      '2026-10-01T12:01:00.000Z',
      '2026-10-02T12:01:00.000Z',
    ]);
    expect(before).toEqual({ start: start - 86_400_000, end: start });
    expect(granularity).toBe(1800);
  });

  it.each([
    ['1h', 60],
    ['7d', 10_800],
    ['30d', 43_200],
  ] as const)('%s has points of %i seconds, few enough to click', (range, seconds) => {
    const { start, end, granularity } = toPeriod({ project, range }, now);
    expect(granularity).toBe(seconds);
    expect((end - start) / 1000 / granularity).toBeLessThanOrEqual(62);
  });

  it('is what a link says, and a day before its end if the link makes no sense', () => {
    const from = '2026-09-01T00:00:00Z';
    const to = '2026-09-03T00:00:00Z';
    const { start, end, before } = toPeriod({ project, from, to }, now);
    expect([start, end, before.start]).toEqual(
      [from, to, '2026-08-30T00:00:00Z'].map((time) => Date.parse(time)),
    );
    expect(toPeriod({ project, from: to, to: from }, now).start).toBe(Date.parse('2026-08-31T00:00:00Z'));
  });
});
