import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  comparePositions,
  type Entry,
  type FeedbackRecord,
  getPosition,
  type Position,
} from '../../../../../core/records/feedback/model.ts';
import { PendingRevisions, resolve } from '../../../../../core/records/feedback/resolve.ts';
import type { ProjectId } from '../../../../../foundations/wire/index.ts';
import { runs } from '../../../../support/run/sampling.ts';

const chain = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g');
const step = fc.oneof(
  fc.record({ do: fc.constant('set' as const), chain, at: fc.nat(20) }),
  fc.record({ do: fc.constant('delete' as const), chain, at: fc.constant(0) }),
  fc.record({ do: fc.constant('take' as const), chain: fc.constant(''), at: fc.nat(22) }),
);

describe('pending revisions', () => {
  it('are taken in order of time, each chain as it was last set', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const pending = new PendingRevisions();
        const model = new Map<string, Position>();
        for (const { do: what, chain, at } of steps) {
          const position = { createdAt: at, id: chain };
          if (what === 'set') {
            pending.set(chain, position);
            model.set(chain, position);
          } else if (what === 'delete') {
            pending.delete(chain);
            model.delete(chain);
          } else {
            const due = [...model.values()].filter(({ createdAt }) => createdAt < at);
            const first = Math.min(...due.map(({ createdAt }) => createdAt));
            const taken = pending.takeBefore(at);
            expect(taken?.createdAt).toBe(due.length > 0 ? first : undefined);
            if (taken) model.delete(taken.id);
          }
        }
      }),
      { numRuns: runs(200, 4000) },
    );
  });

  it('are taken in order when there are many', () => {
    const pending = new PendingRevisions();
    const count = 20_000;
    for (let i = 0; i < count; i++) pending.set(`${i}`, { createdAt: (i * 7919) % count, id: `${i}` });
    const taken = Array.from(
      { length: count + 1 },
      () => pending.takeBefore(Number.POSITIVE_INFINITY)?.createdAt,
    );
    expect(taken).toEqual([...Array(count).keys(), undefined]);
  });
});

/*
 * A model of the table and its indexes. A history creates records, replaces them, again and again,
 * and purges some. Every row of an index may lag behind its item, each by itself. It is met in any
 * of the states that its item has had.
 */

/** What an item has been, in order; undefined before it came and after it went. */
type States = readonly (Entry | undefined)[];

interface Chain {
  /** The items of the revisions, in their order. */
  readonly items: readonly States[];
  readonly isPurged: boolean;
}

const recordAt = ({ id, createdAt }: Position, origin: Position | null): FeedbackRecord => ({
  kind: 'record',
  header: {
    id,
    createdAt,
    projectId: 'acme/shop' as ProjectId,
    ref: 'r',
    type: 't',
    userId: 'ada',
    creator: null,
    annotationRef: null,
    runnableRef: null,
    callRef: null,
    triggerRef: null,
  },
  payload: '{}',
  payloadBytes: 2,
  origin,
});

const toChain = (positions: readonly Position[], isPurged: boolean): Chain => ({
  isPurged,
  items: positions.map((position, i): States => {
    const origin = (i > 0 && positions[0]) || null;
    const record = recordAt(position, origin);
    const replacedBy = positions[i + 1];
    const end: States = replacedBy
      ? [{ kind: 'tombstone', position, replacedBy, origin }]
      : isPurged
        ? [undefined]
        : [];
    return [record, ...end];
  }),
});

const chains = fc
  .array(fc.record({ length: fc.integer({ min: 1, max: 4 }), isPurged: fc.boolean() }), { maxLength: 5 })
  .chain((shapes) => {
    const total = shapes.reduce((sum, { length }) => sum + length, 0);
    // Times of all chains interleave; within a chain they ascend.
    const times = fc.uniqueArray(fc.nat(30), { minLength: total, maxLength: total });
    return times.map((all) => {
      let at = 0;
      return shapes.map(({ length, isPurged }, c) => {
        const own = all.slice(at, at + length).sort((a, b) => a - b);
        at += length;
        return toChain(
          own.map((createdAt, i) => ({ createdAt, id: `${c}.${i}` })),
          isPurged,
        );
      });
    });
  });

/** What an item is in the table now. */
const now = (states: States): Entry | undefined => states.at(-1);

const find = (all: readonly Chain[]) => async (position: Position) =>
  all
    .flatMap(({ items }) => items)
    .map(now)
    .find((entry) => entry && getPosition(entry).id === position.id);

async function* inBatches(entries: readonly Entry[], size: number): AsyncGenerator<Entry[]> {
  for (let i = 0; i < entries.length; i += size) yield entries.slice(i, i + size);
}

/** A row, met in a state of its item that is not older than its being created has to be. */
const meetings = chains.chain((all) =>
  fc
    .tuple(...all.flatMap(({ items }) => items.map((states) => fc.nat(states.length))))
    .map((ages) => ({ all, ages })),
);

describe('resolving', () => {
  it.each([
    ['order of creation', false],
    ['its reverse', true],
  ])(
    'in %s answers one revision of each chain, in whatever state each row is met',
    async (_name, descending) => {
      await fc.assert(
        fc.asyncProperty(meetings, fc.integer({ min: 1, max: 7 }), async ({ all, ages }, size) => {
          let at = 0;
          const met: Entry[] = [];
          for (const { items } of all) {
            for (const [i, states] of items.entries()) {
              const age = ages[at++] ?? 0;
              // The last age is a row that has not come yet. The first revision of a chain has been
              // there long since.
              const entry = age === states.length ? (i === 0 ? states[0] : undefined) : states[age];
              if (entry) met.push(entry);
            }
          }
          const compare = comparePositions(descending);
          met.sort((a, b) => compare(getPosition(a), getPosition(b)));
          const resolved = await Array.fromAsync(resolve(descending, inBatches(met, size), find(all)));
          const answered = resolved.flat().map(({ header }) => header.id);
          for (const [c, { isPurged, items }] of all.entries()) {
            const ofChain = answered.filter((id) => id.startsWith(`${c}.`));
            expect(ofChain.length).toBeLessThanOrEqual(1);
            const rowsShow = met.some((entry) => getPosition(entry).id.startsWith(`${c}.`));
            if (!isPurged && (rowsShow || items.length === 1)) expect(ofChain).toHaveLength(1);
          }
        }),
        { numRuns: runs(400, 8000) },
      );
    },
  );

  it('keeps the order of creation whatever it has to fetch', async () => {
    await fc.assert(
      fc.asyncProperty(chains, fc.integer({ min: 1, max: 7 }), async (all, size) => {
        // Only tombstones and records that replaced nothing are met: all others are fetched.
        const met = all
          .flatMap(({ items }) => items.map(now))
          .filter((entry) => entry !== undefined)
          .filter((entry) => entry.kind === 'tombstone' || entry.origin === null)
          .sort((a, b) => comparePositions(false)(getPosition(a), getPosition(b)));
        const resolved = await Array.fromAsync(resolve(false, inBatches(met, size), find(all)));
        const times = resolved.flat().map(({ header }) => header.createdAt);
        expect(times).toEqual([...times].sort((a, b) => a - b));
        expect(times).toHaveLength(all.filter(({ isPurged }) => !isPurged).length);
      }),
    );
  });

  it('answers a record whose predecessor was not among what was searched', async () => {
    const record = recordAt({ createdAt: 2, id: 'b' }, { createdAt: 1, id: 'a' });
    for (const descending of [false, true])
      expect(
        await Array.fromAsync(resolve(descending, inBatches([record], 1), async () => undefined)),
      ).toEqual([[record]]);
  });

  it('does not take a record for another of the same id that came later', async () => {
    const position = { createdAt: 1, id: 'a' };
    const tombstone: Entry = {
      kind: 'tombstone',
      position,
      replacedBy: { createdAt: 2, id: 'b' },
      origin: null,
    };
    const later = recordAt({ createdAt: 9, id: 'b' }, null);
    for (const descending of [false, true])
      expect(
        await Array.fromAsync(resolve(descending, inBatches([tombstone], 1), async () => later)),
      ).toEqual([]);
  });
});
