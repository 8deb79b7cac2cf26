import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AlertLevel } from '../../../../../api/alerts.ts';
import {
  type Change,
  decide,
  nextLook,
  noStanding,
  type Standing,
  stepMinutes,
  windowEnd,
} from '../../../../../core/workers/alerts/decide.ts';
import { percentChange } from '../../../../../core/workers/alerts/measure.ts';

type Rules = Parameters<typeof decide>[0];

const rules = (fields: Partial<Rules> = {}): Rules => ({
  direction: 'above',
  warn: 10,
  alert: 20,
  noData: 'no_data',
  looks: 2,
  remindMinutes: null,
  ...fields,
});
const minute = 60_000_000;

/** A value that means a level. */
const meaning: Readonly<Record<AlertLevel, number | null>> = { ok: 0, warn: 15, alert: 25, no_data: null };

interface Step {
  readonly standing: Standing;
  readonly change: Change | null;
}

/** What looks that find values lead to, one a minute. */
const through = (values: readonly (number | null)[], settings: Rules = rules()): Step[] => {
  let standing = noStanding('v1');
  return values.map((value, i) => {
    const step = decide(settings, 'v1', standing, { value, end: i * minute }, i * minute);
    standing = step.standing;
    return step;
  });
};
const getStates = (steps: readonly Step[]) => steps.map(({ standing: { state } }) => state);
const found = (...levels: AlertLevel[]) => levels.map((level) => meaning[level]);
const notifiedStates = (steps: readonly Step[]) =>
  steps.flatMap(({ change }) => (change ? [`${change.kind} ${change.previous} ${change.state}`] : []));

const level = fc.constantFrom<AlertLevel>('ok', 'warn', 'alert', 'no_data');

describe('an alert', () => {
  it('comes into a state when two looks agree, and tells it once', () => {
    const steps = through(found('ok', 'ok', 'alert', 'alert', 'alert', 'ok', 'ok'));
    expect(getStates(steps)).toEqual([null, 'ok', 'ok', 'alert', 'alert', 'alert', 'ok']);
    expect(notifiedStates(steps)).toEqual(['changed ok alert', 'changed alert ok']);
  });

  it('stays in its state whatever a single look between others finds', () => {
    fc.assert(
      fc.property(level, level, fc.nat(8), fc.integer({ min: 2, max: 5 }), (before, odd, at, looks) => {
        const calm = Array<AlertLevel>(looks).fill(before);
        const levels = [...calm, ...Array<AlertLevel>(at).fill(before), odd, ...calm];
        const states = getStates(through(found(...levels), rules({ looks }))).slice(looks - 1);
        expect(new Set(states)).toEqual(new Set([before]));
      }),
    );
  });

  it('is in the state that its last looks agree on, if they all do', () => {
    fc.assert(
      fc.property(fc.array(level), level, fc.integer({ min: 1, max: 5 }), (levels, last, looks) => {
        const steps = through(found(...levels, ...Array<AlertLevel>(looks).fill(last)), rules({ looks }));
        expect(steps.at(-1)?.standing.state).toBe(last);
      }),
    );
  });

  it('tells no state twice in a row, nor one that no look has found', () => {
    fc.assert(
      fc.property(fc.array(level, { maxLength: 60 }), (levels) => {
        let last: AlertLevel | null = null;
        for (const { change, standing } of through(found(...levels))) {
          if (!change) continue;
          expect(change.previous === null || change.previous === last || last === null).toBe(true);
          expect(change.state).not.toBe(last);
          expect(levels).toContain(change.state);
          expect(standing.state).toBe(change.state);
          last = change.state;
        }
      }),
    );
  });

  it('takes looks that find it bad and worse for at least bad', () => {
    expect(getStates(through(found('ok', 'ok', 'warn', 'alert', 'warn', 'alert')))).toEqual([
      null,
      'ok',
      'ok',
      'warn',
      'warn',
      'warn',
    ]);
    expect(getStates(through(found('alert', 'alert', 'warn', 'ok', 'ok'))).at(-2)).toBe('warn');
  });

  it('does not tell a first state in which nothing is wrong', () => {
    expect(notifiedStates(through(found('ok', 'ok')))).toEqual([]);
    expect(notifiedStates(through(found('no_data', 'no_data', 'ok', 'ok')))).toEqual(['changed no_data ok']);
    expect(notifiedStates(through(found('warn', 'warn')))).toEqual(['changed null warn']);
  });

  it('counts a look at the same window once', () => {
    const { standing } = decide(rules(), 'v1', noStanding('v1'), { value: 25, end: 5 }, 10);
    expect(decide(rules(), 'v1', standing, { value: 25, end: 5 }, 11).standing.state).toBeNull();
    expect(decide(rules(), 'v1', standing, { value: 25, end: 6 }, 11).standing.state).toBe('alert');
  });

  it('forgets what looks of another version have found, but not its state', () => {
    const standing = through(found('ok', 'ok', 'alert')).at(-1)?.standing ?? noStanding('v1');
    const next = decide(rules(), 'v2', standing, { value: 25, end: 9 * minute }, 9 * minute);
    expect(next.standing).toMatchObject({ digest: 'v2', state: 'ok', recent: ['alert'] });
  });

  it.each<[Rules['noData'], AlertLevel[]]>([
    ['no_data', ['no_data']],
    ['ok', ['ok']],
    ['alert', ['alert']],
    ['keep', ['warn']],
  ])('without data is what it says: %s', (noData, expected) => {
    const steps = through([...found('warn', 'warn'), null, null, null], rules({ noData }));
    expect(getStates(steps).slice(-1)).toEqual(expected);
  });

  it('looks below as well as above', () => {
    const belowRules = rules({ direction: 'below', warn: 20, alert: 10 });
    expect(getStates(through([15, 15, 5, 5, 25, 25], belowRules)).slice(1)).toEqual([
      'warn',
      'warn',
      'alert',
      'alert',
      'ok',
    ]);
  });

  it('reminds of what is not well for as long as it is not', () => {
    const steps = through(
      Array.from({ length: 30 }, (_, i) => (i < 26 ? 25 : 0)),
      rules({ remindMinutes: 10 }),
    );
    expect(notifiedStates(steps)).toEqual([
      'changed null alert',
      'reminder alert alert',
      'reminder alert alert',
      'changed alert ok',
    ]);
  });
});

describe('the change against an earlier window', () => {
  it('is in percent, and infinite from 0', () => {
    expect([percentChange(15, 10), percentChange(5, 10), percentChange(0, 0), percentChange(3, 0)]).toEqual([
      50,
      -50,
      0,
      Infinity,
    ]);
    expect([percentChange(null, 1), percentChange(1, null)]).toEqual([null, null]);
    expect(through([Infinity, Infinity]).at(-1)?.standing.state).toBe('alert');
  });
});

describe('looks', () => {
  it('come every minute, every five, or every twelfth of a window over an hour', () => {
    const steps = [5, 14, 15, 60, 61, 90, 1440, 10_080].map((windowMinutes) =>
      stepMinutes({ windowMinutes }),
    );
    expect(steps).toEqual([1, 1, 5, 5, 5, 7, 120, 840]);
  });

  it('are about windows that ended a minute before at least, each once', () => {
    const window = fc.integer({ min: 5, max: 10_080 });
    fc.assert(
      fc.property(window, fc.integer({ min: 1e15, max: 2e15 }), (windowMinutes, now) => {
        const alert = { windowMinutes };
        const end = windowEnd(alert, now);
        expect(now - end).toBeGreaterThanOrEqual(minute);
        expect(now - end).toBeLessThan((stepMinutes(alert) + 1) * minute);
        const next = nextLook(alert, now);
        expect(next).toBeGreaterThan(now);
        expect([windowEnd(alert, next - 1), windowEnd(alert, next)]).toEqual([
          end,
          end + stepMinutes(alert) * minute,
        ]);
      }),
    );
  });
});
