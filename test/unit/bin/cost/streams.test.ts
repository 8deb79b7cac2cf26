import { describe, expect, it } from 'vitest';
import { total } from '../../../../bin/cost/bill.ts';
import { loadOf } from '../../../../bin/cost/load.ts';
import { measured } from '../../../../bin/cost/measured.ts';
import { analyticsBill, eventsBill, failedShare, turnShare } from '../../../../bin/cost/streams.ts';
import { agentTraces } from '../../../../examples/agent-traces.ts';

describe('what streams add to a bill', () => {
  it('stays within $1.50 for the events of a million calls, and $0.50 for their rows', () => {
    for (const load of [loadOf(), loadOf({ apart: 1 })]) {
      expect(total(eventsBill(load, measured()))).toBeLessThanOrEqual(1.5);
      expect(total(analyticsBill(load, measured()))).toBeLessThanOrEqual(0.5);
    }
  });

  it('counts turns and failures as the generator makes them', () => {
    const calls = [...agentTraces({ projectId: 'acme/shop', conversations: 60 })];
    const turns = calls.filter(({ start }) => start.turn_id === start.id).length / calls.length;
    const failed = calls.filter(({ end }) => end.exception !== null).length / calls.length;
    expect([turns, failed]).toEqual([expect.closeTo(turnShare, 2), expect.closeTo(failedShare, 3)]);
  });
});
