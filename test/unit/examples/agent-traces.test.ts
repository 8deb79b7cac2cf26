import { describe, expect, it } from 'vitest';
import { type Call, compressedBytes, jsonBytes, toPayload } from '../../../bench/harness/calls.ts';
import { quantile } from '../../../bench/harness/figures.ts';
import { agentTraces } from '../../../examples/agent-traces.ts';

const options = { projectId: 'acme/shop', conversations: 60 };
const calls = [...agentTraces(options)];

// What decides the storage costs of calls: their sizes, how they are grouped, and how much they
// repeat.

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((total, number) => total + number, 0) / numbers.length;

const countsBy = (calls: readonly Call[], field: string): number[] =>
  [...Map.groupBy(calls, ({ start }) => start[field]).values()].map((group) => group.length);

const windowLength = 32;

/**
 * The share of the payloads' characters in runs of at least 32 that occurred in an earlier call, 0
 * to 1.
 */
const repeatedShare = (calls: readonly Call[]): number => {
  const seen = new Set<string>();
  let repeated = 0;
  let all = 0;
  for (const call of calls) {
    const text = toPayload(call);
    all += text.length;
    for (let i = 0; i + windowLength <= text.length; ) {
      const isKnown = seen.has(text.slice(i, i + windowLength));
      if (isKnown) repeated += windowLength;
      i += isKnown ? windowLength : 1;
    }
    // Stored windows are adjacent and looked-up windows start anywhere, so a repeated run meets
    // one.
    for (let i = 0; i < text.length; i += windowLength) seen.add(text.slice(i, i + windowLength));
  }
  return repeated / all;
};

/** The profile of calls by printed name. Sizes are bytes. */
const toProfile = (calls: readonly Call[]): Readonly<Record<string, number>> => {
  const sizes = calls.map((call) => jsonBytes([call]));
  const threads = countsBy(calls, 'thread_id');
  return {
    'bytes a call, mean': mean(sizes),
    'bytes a call, p90': quantile(sizes, 0.9),
    'calls a thread, mean': mean(threads),
    'calls a trace, mean': mean(countsBy(calls, 'trace_id')),
    'compressed alone, bytes a call': compressedBytes(calls, 1),
    'compressed in 25s, bytes a call': compressedBytes(calls, 25),
    'compressed in 100s, bytes a call': compressedBytes(calls, 100),
    'repeated, % of the payload': 100 * repeatedShare(calls),
  };
};

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
    const made = toProfile(calls);
    for (const [name, value] of Object.entries(real)) {
      expect((made[name] ?? 0) / value, name).toBeGreaterThan(0.85);
      expect((made[name] ?? 0) / value, name).toBeLessThan(1.15);
    }
  });
});
