import { describe, expect, it } from 'vitest';
import { toReports } from '../../../examples/shop/conversations.ts';
import { daysOfCalls, feedbackOn, promptName, verdictsOn } from '../../../examples/shop/days.ts';
import { evaluationsOf, questions, reviewsOf } from '../../../examples/shop/improve.ts';

const now = Date.parse('2026-11-22T12:00:00Z');
const calls = daysOfCalls(now);
const roots = calls.filter(({ parent }) => parent === null);

describe('the days of the shop', () => {
  it('spreads over the hours before now, and ends before it', () => {
    const hours = new Set(roots.map(({ start }) => Math.floor((now - start) / 3_600_000)));
    expect(hours.size).toBeGreaterThan(15);
    expect(Math.max(...hours)).toBeGreaterThan(36);
    for (const { start, ms } of calls) expect(start + (ms ?? 0)).toBeLessThan(now);
  });

  it('has conversations with several turns, two models, tools and embeddings', () => {
    const turns = Map.groupBy(roots, ({ thread }) => thread);
    expect([...turns.values()].filter(({ length }) => length > 1).length).toBeGreaterThan(10);
    const ops = new Set(calls.map(({ op }) => op));
    expect(ops).toContain('openai.chat.completions.create');
    expect(ops).toContain('anthropic.messages.create');
    expect(ops).toContain('openai.embeddings.create');
    expect(ops).toContain('find_order');
  });

  it('is of several end users, and only one of its models reads from a cache', () => {
    const users = new Set(roots.map(({ attributes }) => (attributes as { user: { id: string } }).user.id));
    expect(users.size).toBeGreaterThan(4);
    const cached = calls.filter(({ summary }) => JSON.stringify(summary ?? {}).includes('cached_tokens'));
    expect(new Set(cached.map(({ op }) => op))).toEqual(new Set(['openai.chat.completions.create']));
  });

  it('has errors, one running turn, and feedback', () => {
    expect(calls.filter(({ exception }) => exception !== undefined).length).toBeGreaterThan(5);
    expect(roots.filter(({ ms }) => ms === null).length).toBe(1);
    expect(feedbackOn('demo/shop', calls).length).toBeGreaterThan(10);
  });

  it('has a tool that is called in a loop since the newest release', () => {
    const byTrace = Map.groupBy(
      calls.filter(({ op }) => op === 'find_parts'),
      ({ trace, inputs }) => JSON.stringify([trace, inputs]),
    );
    const loops = [...byTrace.values()].filter(({ length }) => length >= 3);
    expect(loops.length).toBeGreaterThan(1);
    for (const { attributes } of loops.flat())
      expect((attributes as { release?: string }).release).toBe('2.4.0');
  });

  it('has two versions of a prompt, which calls of models name, and the newer one does better', () => {
    const models = calls.filter(({ attributes }) => 'prompt' in attributes);
    expect(
      new Set(models.map(({ attributes }) => JSON.stringify((attributes as { prompt: unknown }).prompt))),
    ).toEqual(
      new Set([1, 2].map((version) => JSON.stringify({ name: promptName, version: String(version) }))),
    );
    const byId = new Map(calls.map((call) => [call.id, call]));
    const verdicts = verdictsOn('demo/shop', calls) as { svc_ref: string; payload: { value: boolean } }[];
    const shareOf = (release: string) => {
      const own = verdicts.filter(({ svc_ref }) => {
        const { attributes } = byId.get(svc_ref.split('/').at(-1) ?? '') ?? {};
        return (attributes as { release?: string } | undefined)?.release === release;
      });
      return own.filter(({ payload }) => payload.value).length / own.length;
    };
    expect(shareOf('2.4.0')).toBeGreaterThan(shareOf('2.3.0'));
  });

  it('nests every call in the trace of its turn, within its time', () => {
    const byId = new Map(calls.map((call) => [call.id, call]));
    for (const { trace, parent, start, ms } of calls) {
      if (parent === null) continue;
      const above = byId.get(parent);
      expect(above?.trace).toBe(trace);
      expect(start).toBeGreaterThanOrEqual(above?.start ?? Number.NaN);
      if (above?.ms && ms) expect(start + ms).toBeLessThanOrEqual(above.start + above.ms);
    }
  });

  it('is reported as starts, with an end for all that has finished', () => {
    const [running] = roots.filter(({ ms }) => ms === null);
    const [done] = roots;
    expect(done && toReports('demo/shop', done, 0).length).toBe(2);
    expect(running && toReports('demo/shop', running, 0).length).toBe(1);
  });
});

describe('what the team of the shop works with', () => {
  const evaluations = evaluationsOf('svc:///demo/shop/object/support-evaluation:v0', now);
  const all = evaluations.filter(({ parent }) => parent === null);

  it('has evaluations apart from production, whose means are those of their rows', () => {
    expect(new Set(evaluations.map(({ attributes }) => attributes))).toEqual(
      new Set([{ source: 'evaluation' }]),
    );
    for (const { id, output } of all) {
      const rows = evaluations.filter(({ parent }) => parent === id);
      expect(rows.length).toBe(questions.length);
      const scores = rows.map((row) => (row.output as { scores: { correct: number } }).scores.correct);
      const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
      expect(output).toMatchObject({ correct: { mean } });
    }
  });

  it('has a queue of which some calls are reviewed, and some are not', () => {
    const reviews = reviewsOf('demo/shop', calls, { correct: 'a', tone: 'b' });
    const slow = roots.filter(({ ms }) => ms !== null && ms > 3000);
    expect(reviews.length).toBe(6);
    expect(slow.length).toBeGreaterThan(3);
  });
});
