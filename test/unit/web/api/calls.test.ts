import { describe, expect, it } from 'vitest';
import { type CallRow, fromWire, pathToWire, sumUsage, usageByModel } from '../../../../web/api/calls.ts';
import { fieldOf } from '../../../../web/views/overview/requests.ts';

const call = { id: 'c', project_id: 'acme/shop', op_name: 'op', trace_id: 't', started_at: '2026-10-01' };

describe.each([
  ['penny', 'penny'],
  ['weave', 'wb'],
])('the records of a service called %s', (service, prefix) => {
  const record = {
    ...call,
    [`${prefix}_user_id`]: 'ada',
    [`${prefix}_run_id`]: 'run',
    summary: { usage: {}, [service]: { status: 'error' } },
  };

  it('have the names of the types', () => {
    const read = fromWire(record, service);
    expect(read).toMatchObject({ ...call, svc_user_id: 'ada', svc_run_id: 'run' });
    expect(read.summary).toMatchObject({ usage: {}, svc: { status: 'error' } });
    expect(fromWire({ [`${service}_ref`]: 'ref' }, service)).toEqual({ svc_ref: 'ref' });
  });

  it('are asked for by the names of the service', () => {
    expect(pathToWire('svc_user_id', service)).toBe(`${prefix}_user_id`);
    expect(pathToWire('summary.svc.status', service)).toBe(`summary.${service}.status`);
    expect(fieldOf('user', service)).toBe(`${prefix}_user_id`);
  });
});

it('records of a service called svc stay as they are', () => {
  expect(fromWire(call, 'svc')).toBe(call);
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
  const costOf = (...calls: readonly CallRow[]) => {
    const sum = sumUsage(calls.flatMap((of) => [...usageByModel(of).values()]));
    return sum?.cost && Object.fromEntries(sum.cost);
  };

  it('are added up unit by unit', () => {
    const euros = costing([1, 'EUR'], [2, 'EUR']);
    expect(costOf(euros, costing([1, 'USD'], [0.5, 'EUR']))).toEqual({ EUR: 3.5, USD: 1 });
  });

  it('of nothing are no amount in another unit', () => {
    expect(costOf(costing([1, 'EUR'], [0, 'USD']))).toEqual({ EUR: 1 });
    expect(costOf(costing([0, 'EUR'], [0, 'USD']))).toEqual({ EUR: 0 });
    expect(costOf(call)).toBeUndefined();
  });
});
