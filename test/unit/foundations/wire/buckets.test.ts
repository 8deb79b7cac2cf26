import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bucketEdges,
  defaultGranularity,
  findBucket,
  isTimezone,
} from '../../../../foundations/wire/buckets.ts';
import { runs, seed } from '../../../support/run/sampling.ts';

const micros = (text: string): number => Date.parse(text) * 1000;
const texts = (edges: readonly number[]): string[] =>
  edges.map((edge) => new Date(edge / 1000).toISOString().slice(0, 16));
const hours = (edges: readonly number[]): number[] =>
  edges.slice(1).map((edge, i) => (edge - (edges[i] ?? 0)) / 3_600_000_000);

describe('buckets', () => {
  it('of a day begin at midnights of the zone, and have 23 or 25 hours when clocks change', () => {
    const autumn = bucketEdges(
      micros('2026-10-24T12:00:00Z'),
      micros('2026-10-27T00:00:00Z'),
      86_400,
      'Europe/Berlin',
    );
    expect(texts(autumn)).toEqual([
      '2026-10-23T22:00',
      '2026-10-24T22:00',
      '2026-10-25T23:00',
      '2026-10-26T23:00',
      '2026-10-27T23:00',
    ]);
    expect(hours(autumn)).toEqual([24, 25, 24, 24]);
    const spring = bucketEdges(
      micros('2026-03-28T12:00:00Z'),
      micros('2026-03-29T12:00:00Z'),
      86_400,
      'Europe/Berlin',
    );
    expect(hours(spring)).toEqual([24, 23]);
  });

  it('of a day begin with the leap where clocks leap over midnight', () => {
    const edges = bucketEdges(
      micros('2018-11-03T12:00:00Z'),
      micros('2018-11-05T00:00:00Z'),
      86_400,
      'America/Sao_Paulo',
    );
    expect(texts(edges)).toContain('2018-11-04T03:00');
    expect(hours(edges)).toContain(23);
  });

  it('of a week begin on Mondays', () => {
    const edges = bucketEdges(micros('2026-10-01T00:00:00Z'), micros('2026-10-14T00:00:00Z'), 604_800, 'UTC');
    expect(texts(edges)).toEqual([
      '2026-09-28T00:00',
      '2026-10-05T00:00',
      '2026-10-12T00:00',
      '2026-10-19T00:00',
    ]);
  });

  it('of less than a day are counted from midnight of the zone', () => {
    const edges = bucketEdges(
      micros('2026-10-01T00:00:00Z'),
      micros('2026-10-01T02:00:00Z'),
      3600,
      'Asia/Kolkata',
    );
    expect(texts(edges)).toEqual([
      '2026-09-30T23:30',
      '2026-10-01T00:30',
      '2026-10-01T01:30',
      '2026-10-01T02:30',
    ]);
    const eight = bucketEdges(
      micros('2026-10-25T00:00:00Z'),
      micros('2026-10-26T00:00:00Z'),
      28_800,
      'Europe/Berlin',
    );
    expect(hours(eight)).toEqual([8, 8, 8, 1, 8]);
  });

  it('hold the span without gaps, whatever zone and granularity', () => {
    const zones = [
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Asia/Kathmandu',
      'Australia/Lord_Howe',
      'Pacific/Apia',
    ];
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1990-01-01'), max: new Date('2050-01-01'), noInvalidDate: true }),
        fc.integer({ min: 1, max: 40 * 86_400 }),
        fc.constantFrom(...zones),
        fc.constantFrom(3600, 5400, 43_200, 86_400, 3 * 86_400, 604_800),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (date, seconds, zone, granularity, at) => {
          const from = date.getTime() * 1000;
          const to = from + seconds * 1_000_000;
          const edges = bucketEdges(from, to, granularity, zone);
          expect(edges[0]).toBeLessThanOrEqual(from);
          expect(edges[1]).toBeGreaterThan(from);
          expect(edges.at(-1)).toBeGreaterThanOrEqual(to);
          expect(edges.at(-2)).toBeLessThan(to);
          expect(edges.toSorted((a, b) => a - b)).toEqual(edges);
          const time = from + Math.floor(at * (to - from));
          const bucket = findBucket(edges, time);
          expect(edges[bucket]).toBeLessThanOrEqual(time);
          expect(edges[bucket + 1]).toBeGreaterThan(time);
        },
      ),
      { numRuns: runs(150), seed },
    );
  });

  it('are some 60 to 200 where nobody says', () => {
    for (let span = 120; span < 40_000_000; span = Math.ceil(span * 1.3)) {
      const count = span / defaultGranularity(0, span * 1_000_000);
      expect(count).toBeLessThanOrEqual(200);
      expect(count).toBeGreaterThan(50);
    }
  });
});

describe('a time zone', () => {
  it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+3'])('is %s', (name) => {
    expect(isTimezone(name)).toBe(true);
  });
  it.each(['', 'Mars/Olympus', '+02:00', 'Europe/Berlin ', 'x'.repeat(100)])('is not "%s"', (name) => {
    expect(isTimezone(name)).toBe(false);
  });
});

/** From the middle of hour 0 to the middle of the hour behind the last one of the list. */
