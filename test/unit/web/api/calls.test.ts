import { describe, expect, it } from 'vitest';
import {
  type CallRow,
  getCallName,
  getDuration,
  getWait,
  opTexts,
  parseTime,
  sumUsage,
  usageByModel,
} from '../../../../web/api/calls.ts';
import { getKind } from '../../../../web/api/kind.ts';

const call = { id: 'c', project_id: 'acme/shop', op_name: 'op', trace_id: 't', started_at: '2026-10-01' };

describe('names of operations', () => {
  it('that stand beside each other have their version where they are the same', () => {
    const one = 'svc:///a/b/op/answer:3f21aa01bc';
    const other = 'svc:///a/b/op/answer:77e0';
    expect([...opTexts([one, other, 'answer', 'search', one]).values()]).toEqual([
      'answer · 3f21aa0',
      'answer · 77e0',
      'answer',
      'search',
    ]);
  });
});

describe('the name of a call', () => {
  const named = (attributes: object, fields: Partial<CallRow> = {}) =>
    getCallName({ ...call, op_name: 'execute_tool seat_map', attributes: { ...attributes }, ...fields });

  it('is that of its tool or its agent, whatever its operation is called', () => {
    expect(named({ kind: 'tool', tool: { name: 'seats.seat_map' } })).toBe('seats.seat_map');
    expect(named({ kind: 'tool', 'tool.name': 'seat_map' })).toBe('seat_map');
    expect(named({ kind: 'agent', agent: { name: 'planner' } })).toBe('planner');
    expect(named({ kind: 'model', agent: { name: 'planner' } })).toBe('execute_tool seat_map');
    expect(named({ kind: 'tool', tool: { name: '' } })).toBe('execute_tool seat_map');
    expect(named({ kind: 'tool', tool: { name: 'x' } }, { display_name: 'Seats' })).toBe('Seats');
  });

  it('of a tool makes it one', () => {
    const kindIn = (attributes: object) => getKind({ ...call, attributes: { ...attributes } });
    expect(kindIn({ tool: { name: 'seat_map' } })).toBe('tool');
    expect(kindIn({ kind: 'memory', tool: { name: 'recall' } })).toBe('memory');
    expect(kindIn({ kind: 'strange' })).toBe('other');
  });
});

it('a call waits for a person, or waited for so long, or did not', () => {
  const waitIn = (svc: NonNullable<CallRow['summary']>['svc']) => getWait({ ...call, summary: { svc } });
  expect(waitIn({ waiting: true })).toBe(true);
  expect(waitIn({ waited_ms: 12_000 })).toBe(12_000);
  expect([waitIn({ waited_ms: 0 }), waitIn({ status: 'success' }), getWait(call)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

describe('costs', () => {
  /** A call of a model with a price for prompts, and another for completions. */
  const costing = (prompt: readonly [number, string], completion: readonly [number, string]) =>
    ({
      ...call,
      summary: {
        svc: {
          costs: {
            m: {
              prompt_tokens_total_cost: prompt[0],
              prompt_token_cost_unit: prompt[1],
              completion_tokens_total_cost: completion[0],
              completion_token_cost_unit: completion[1],
            },
          },
        },
      },
    }) as unknown as CallRow;
  const sumCosts = (...calls: readonly CallRow[]) => {
    const sum = sumUsage(calls.flatMap((call) => [...usageByModel(call).values()]));
    return sum?.cost && Object.fromEntries(sum.cost);
  };

  it('are added up unit by unit', () => {
    const euros = costing([1, 'EUR'], [2, 'EUR']);
    expect(sumCosts(euros, costing([1, 'USD'], [0.5, 'EUR']))).toEqual({ EUR: 3.5, USD: 1 });
  });

  it('of nothing are no amount in another unit', () => {
    expect(sumCosts(costing([1, 'EUR'], [0, 'USD']))).toEqual({ EUR: 1 });
    expect(sumCosts(costing([0, 'EUR'], [0, 'USD']))).toEqual({ EUR: 0 });
    expect(sumCosts(call)).toBeUndefined();
  });
});

describe('times', () => {
  it('have their microseconds, so that short calls have a length', () => {
    const took = { started_at: '2026-10-01T00:00:00.000900Z', ended_at: '2026-10-01T00:00:00.001500Z' };
    expect(getDuration(took)).toBeCloseTo(0.6, 3);
    expect(parseTime('2026-10-01T00:00:00.001Z')).toBe(Date.UTC(2026, 9, 1, 0, 0, 0, 1));
    expect([parseTime(null), parseTime(undefined), parseTime('soon')]).toEqual([
      Number.NaN,
      Number.NaN,
      Number.NaN,
    ]);
  });
});
