import fc from 'fast-check';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { HourMarks } from '../../../../core/records/rollups.ts';
import { readTexts, storeTexts, type TextHour, textsRange } from '../../../../core/records/texts.ts';
import {
  type Item,
  putItems,
  readRange,
  removeAttribute,
  requestBudget,
  type Store,
  type Table,
} from '../../../../foundations/storage/index.ts';
import type { TableKey } from '../../../../foundations/storage/tables.ts';
import type { ProjectId } from '../../../../foundations/wire/index.ts';
import type { Fault } from '../../../support/faults/faults.ts';
import { faultPlan, makeFaulty, planned, type SdkClient } from '../../../support/faults/faulty-client.ts';
import { runs, seed } from '../../../support/run/sampling.ts';
import { createStatsStore } from '../../../support/values/stats.ts';

let store: Store;
let table: Table;
beforeAll(async () => {
  store = await createStatsStore();
  if (!store.bookkeeping) throw new Error('the store keeps no books');
  table = store.bookkeeping;
  makeFaulty(table.client as SdkClient);
});
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

let projects = 0;
const newProject = () => `acme/text-items-${projects++}` as ProjectId;
const budget = () => requestBudget(60_000);

const begin = Date.UTC(2026, 9, 24) * 1000;
const hourMicros = 3_600_000_000;
const firstHour = begin / hourMicros;

/** What is known of an hour, with so many groups of so many bytes. */
const makeHour = (hour: number, count: number, bytes: number, calls = 40): TextHour => ({
  hour,
  from: hour,
  to: hour,
  mark: 0,
  groups: Array.from({ length: count }, (_, i) => ({
    from: hour * hourMicros + i * 1000,
    to: hour * hourMicros + i * 1000 + 999,
    calls: Math.ceil(calls / count),
    count: bytes,
    bits: 5,
    packed: new Uint8Array(bytes),
  })),
});

const note = (project: ProjectId, hours: readonly TextHour[]) =>
  storeTexts(table, project, hours, () => undefined, budget());

const readAll = async (
  project: ProjectId,
  range: readonly [number, number],
  descending: boolean,
): Promise<TextHour[]> =>
  (await Array.fromAsync(readTexts(table, project, range, descending, budget()))).flat();

const numbers = (hours: readonly TextHour[]) => hours.map(({ hour, groups }) => [hour, groups.length]);

describe('what is known of texts', () => {
  it('is read in order, whatever gaps there are and however large hours are', async () => {
    const hour = fc.record({
      gap: fc.oneof(
        { weight: 5, arbitrary: fc.constant(1) },
        { weight: 1, arbitrary: fc.nat({ max: 2000 }) },
      ),
      count: fc.integer({ min: 1, max: 3 }),
      bytes: fc.oneof(
        { weight: 4, arbitrary: fc.nat({ max: 500 }) },
        { weight: 1, arbitrary: fc.constant(60_000) },
        { weight: 1, arbitrary: fc.constant(250_000) },
      ),
    });
    const bounds = fc.tuple(fc.nat({ max: 120 }), fc.nat({ max: 120 }), fc.boolean());
    await fc.assert(
      fc.asyncProperty(
        fc.array(hour, { minLength: 20, maxLength: 120 }),
        fc.array(bounds, { minLength: 1, maxLength: 4 }),
        async (some, all) => {
          const project = newProject();
          let at = firstHour;
          const hours = some.map(({ gap, count, bytes }) => {
            at += 1 + gap;
            return makeHour(at, count, bytes);
          });
          await note(project, hours);
          const hourAt = (i: number) => hours[i % hours.length]?.hour ?? firstHour;
          for (const [a, b, descending] of [[0, hours.length - 1, true] as const, ...all]) {
            const from = Math.min(hourAt(a), hourAt(b));
            const to = Math.max(hourAt(a), hourAt(b));
            const expected = numbers(hours.filter((each) => each.hour >= from && each.hour <= to));
            const found = numbers(await readAll(project, [from, to], descending));
            expect(found).toEqual(descending ? expected.toReversed() : expected);
          }
          expect(await readAll(project, [-1e6, 1e6], false)).toHaveLength(hours.length);
        },
      ),
      { numRuns: runs(4), seed },
    );
  });

  it.each<Fault>(['throttle', 'error', 'down', 'refuse'])(
    'is read whole or not at all if a request meets with the fault %s',
    async (fault) => {
      const project = newProject();
      await note(
        project,
        Array.from({ length: 100 }, (_, i) => makeHour(firstHour + i, 1, 20_000)),
      );
      const clean = faultPlan();
      await planned(clean, () => readAll(project, [-1e6, 1e6], true));
      expect(clean.operations.length).toBeGreaterThan(5);
      for (let number = 0; number < clean.operations.length; number++) {
        const plan = faultPlan((request) => (request === number ? fault : 'none'));
        const found = await planned(plan, () => readAll(project, [-1e6, 1e6], true)).catch(() => []);
        expect([0, 100]).toContain(found.length);
        expect(plan.underWay).toEqual([]);
      }
    },
  );

  it('is read no further than it is wanted', async () => {
    const project = newProject();
    await note(
      project,
      Array.from({ length: 100 }, (_, i) => makeHour(firstHour + i, 1, 20_000)),
    );
    const spent = budget();
    for await (const hours of readTexts(table, project, [-1e6, 1e6], true, spent)) {
      expect(hours.length).toBeGreaterThan(20);
      break;
    }
    expect(spent.meter.readUnits).toBeLessThan(70);
    const all = budget();
    await Array.fromAsync(readTexts(table, project, [-1e6, 1e6], true, all));
    expect(all.meter.readUnits).toBeLessThan(265);
  });

  it('takes an hour of many calls for known only if one search wrote all its parts', async () => {
    const project = newProject();
    const spent = budget();
    const stored = async (): Promise<Item[]> => {
      const options = { toRow: (item: Item) => item };
      const pages = await Array.fromAsync(readRange(table, textsRange(project), options, spent));
      return pages.flat().filter(({ h }) => h !== undefined);
    };
    /** Each search has groups of its own. */
    const noteAs = async (count: number, bytes: number): Promise<Item[]> => {
      await note(project, [makeHour(firstHour, count, bytes, 9000)]);
      return stored();
    };
    const known = async () => {
      const range = [firstHour, firstHour] as const;
      const [up, down] = await Promise.all([readAll(project, range, false), readAll(project, range, true)]);
      expect(up).toEqual(down);
      return up.map(({ groups }) => groups.length);
    };
    const first = await noteAs(8, 80_000);
    expect(first).toHaveLength(3);
    expect(await known()).toEqual([8]);
    const second = await noteAs(10, 60_000);
    expect(second).toHaveLength(2);
    expect(await known()).toEqual([10]);
    // One of two searches at once was the first with one part, and the last with another.
    await putItems(table, first.slice(1, 2), spent);
    expect(await known()).toEqual([]);
    await putItems(table, second, spent);
    expect(await known()).toEqual([10]);
    // A deletion that dies takes one part away. What repeats it takes the others.
    const { k = null, s = null } = second[0] ?? {};
    await removeAttribute(table, { key: { k, s } as TableKey<'bookkeeping'>, attribute: 'h' }, spent);
    expect(await known()).toEqual([]);
    vi.setSystemTime(begin / 1000 + 86_400_000);
    await new HourMarks(store, spent).mark(project, [{ startedAt: begin }], true);
    expect(await stored()).toEqual([]);
  });
});
