import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  Distinct,
  packIssues,
  type Sighting,
  Tallies,
  unpackIssues,
} from '../../../../../core/questions/issues/tally.ts';

const countOf = (texts: Iterable<string>): Distinct => {
  const counted = new Distinct();
  for (const text of texts) counted.add(text);
  return counted;
};

const names = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `trace-${from + i}`);

describe('distinct texts', () => {
  it('are counted exactly up to 32, however often each comes', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 32 }), (texts) => {
        expect(countOf([...texts, ...texts]).count).toBe(new Set(texts).size);
      }),
    );
  });

  it.each([33, 100, 300, 1000, 20_000])('are estimated within three standard errors: %i', (count) => {
    expect(Math.abs(countOf(names(0, count)).count / count - 1)).toBeLessThan(0.195);
  });

  it('are estimated without a bias', () => {
    const count = 800;
    const errors = Array.from({ length: 60 }, (_, i) => {
      const from = i * count;
      return countOf(names(from, from + count)).count / count - 1;
    });
    const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
    const spread = Math.sqrt(errors.reduce((sum, error) => sum + error ** 2, 0) / errors.length);
    expect(Math.abs(mean)).toBeLessThan(0.03);
    expect(spread).toBeLessThan(0.08);
  });

  it('are the same in any order, merged, and stored in between', () => {
    const parts = [names(0, 20), names(10, 30), names(20, 700), names(650, 660)];
    const whole = countOf(parts.flat()).count;
    for (const order of [parts, parts.toReversed()]) {
      const merged = new Distinct();
      for (const part of order) merged.merge(Distinct.from(countOf(part).toBytes()));
      expect(merged.count).toBe(whole);
    }
  });
});

/** Something that went wrong, in a trace and for a user of its own. */
const sighting = (number: number, about: Partial<Sighting> = {}): Sighting => ({
  kind: 'error',
  opName: 'answer',
  toolName: null,
  message: 'E: no',
  at: 1_800_000_000_000_000 + number,
  callId: `call-${number}`,
  traceId: `trace-${number}`,
  userId: `user-${number}`,
  release: '1.0',
  ...about,
});

/** A message that no other number has, and no rule takes for an id. */
const wordOf = (number: number): string =>
  String(number).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '');

const seen = (sightings: readonly Sighting[]): Tallies => {
  const tallies = new Tallies();
  for (const one of sightings) tallies.see(one);
  return tallies;
};

const shown = ({ issues, calls, leftOut, releases }: Tallies) => ({
  calls,
  leftOut,
  releases,
  issues: [...issues].map(([id, { traces, users, ...tally }]) => [id, tally, traces.count, users.count]),
});

describe('the issues of some time', () => {
  it('are the same stored, with agents of every name', async () => {
    const agents = ['__proto__', '', null, 'planner', 'planner'];
    const loops = agents.map((agent, i) => sighting(i, { kind: 'loop', agent }));
    const tallies = seen([...Array.from({ length: 40 }, (_, i) => sighting(i)), ...loops]);
    const [stored] = unpackIssues(await packIssues([{ number: 7, mark: 3, tallies }], 100_000));
    expect(stored).toMatchObject({ number: 7, mark: 3 });
    expect(shown(stored?.tallies ?? new Tallies())).toEqual(shown(tallies));
    expect([...tallies.issues.values()].map((tally) => [...tally.agents])).toEqual([
      [],
      [
        ['__proto__', 1],
        ['', 1],
        [null, 1],
        ['planner', 2],
      ],
    ]);
  });

  it('are the most common ones of any number of messages, and the rest is counted', () => {
    const rare = Array.from({ length: 10_000 }, (_, i) => sighting(i, { message: `E: ${wordOf(i)}` }));
    const common = Array.from({ length: 30 }, (_, i) => sighting(i, { message: 'E: again' }));
    const tallies = seen(
      rare
        .flatMap((one, i) => (i % 100 === 0 && common.length > 0 ? [one, common.pop()] : [one]))
        .filter((one) => one !== undefined),
    );
    tallies.bound();
    const counts = [...tallies.issues.values()].map(({ count }) => count);
    expect([counts.length, Math.max(...counts)]).toEqual([500, 30]);
    expect(counts.reduce((sum, count) => sum + count, 0) + tallies.leftOut).toBe(10_030);
  });

  it('are as many as there is room for, where they are stored', async () => {
    const rollups = Array.from({ length: 24 }, (_, number) => ({
      number,
      mark: 0,
      tallies: seen(
        Array.from({ length: 500 }, (_, i) =>
          sighting(number * 1000 + i, { message: `E: ${wordOf(number * 1000 + i)}` }),
        ),
      ),
    }));
    const packed = await packIssues(rollups, 50_000);
    expect(packed.length).toBeLessThanOrEqual(50_000);
    const stored = unpackIssues(packed);
    for (const { tallies } of stored) {
      expect(tallies.issues.size).toBeGreaterThan(5);
      expect(tallies.issues.size + tallies.leftOut).toBe(500);
    }
    expect(stored.map(({ tallies }) => shown(tallies))).toEqual(rollups.map(({ tallies }) => shown(tallies)));
  });
});
