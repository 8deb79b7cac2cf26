import { describe, expect, it } from 'vitest';
import { profileOf } from '../../../bench/harness/calls.ts';
import { agentTraces } from '../../../examples/agent-traces.ts';

const options = { projectId: 'acme/shop', conversations: 60 };
const calls = [...agentTraces(options)];

describe('the traces of the example agent', () => {
  it('are the same for the same seed and differ for another', () => {
    expect([...agentTraces(options)]).toEqual(calls);
    expect([...agentTraces({ ...options, seed: 2 })][0]).not.toEqual(calls[0]);
  });

  it('are in order of their starts, each with its turn’s call before it', () => {
    const seen = new Set<string | null>();
    let last = '';
    for (const { start } of calls) {
      expect(start.started_at >= last).toBe(true);
      expect(start.parent_id === null || seen.has(start.parent_id)).toBe(true);
      last = start.started_at;
      seen.add(start.id);
    }
  });

  it('are as large as those of a real support agent, and as repetitive', () => {
    // Of the 1,640 calls of an airline's agent (tau-bench, GPT-4o) that bench/data has a sample of.
    const real = {
      'bytes a call, mean': 7321,
      'bytes a call, p90': 17_816,
      'calls a thread, mean': 27.3,
      'calls a trace, mean': 3.35,
      'compressed alone, bytes a call': 2041,
      'compressed in 25s, bytes a call': 252,
      'compressed in 100s, bytes a call': 133,
      'repeated, % of the payload': 96.5,
    };
    const made = profileOf(calls);
    for (const [name, value] of Object.entries(real)) {
      expect((made[name] ?? 0) / value, name).toBeGreaterThan(0.85);
      expect((made[name] ?? 0) / value, name).toBeLessThan(1.15);
    }
  });
});
