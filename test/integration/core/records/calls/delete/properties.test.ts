import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestBudget, type Store } from '../../../../../../core/foundations/storage/index.ts';
import type { JsonObject } from '../../../../../../core/foundations/wire/index.ts';
import { deleteCalls } from '../../../../../../core/records/calls/index.ts';
import { createCallStore, endOf, project, query, read, send, startOf } from '../../../../../support/calls.ts';
import { runs } from '../../../../../support/sampling.ts';
import { everythingStored } from '../../../../../support/stored.ts';

/** How large a call's payload is: next to nothing, too large for its item, too large for any. */
const sizes = { small: 0, large: 3000, huge: 320_000 } as const;

/** A call of a random forest. */
interface Node {
  /** Its parent's place among the calls before it; null for a root. */
  readonly parent: number | null;
  readonly size: keyof typeof sizes;
  /** Whether its end comes in the same request, in another, or never. */
  readonly ended: 'together' | 'apart' | 'never';
  readonly inThread: boolean;
  /** Whether the next call is reported in a request of its own. */
  readonly closesRequest: boolean;
  readonly isDeleted: boolean;
}

const size = fc.oneof(
  { weight: 6, arbitrary: fc.constant('small' as const) },
  { weight: 3, arbitrary: fc.constant('large' as const) },
  { weight: 1, arbitrary: fc.constant('huge' as const) },
);
const node = (i: number): fc.Arbitrary<Node> =>
  fc.record({
    parent: i === 0 ? fc.constant(null) : fc.option(fc.integer({ min: 0, max: i - 1 }), { freq: 4 }),
    size,
    ended: fc.constantFrom('together', 'apart', 'never'),
    inThread: fc.boolean(),
    closesRequest: fc.boolean(),
    isDeleted: fc.boolean().chain((flag) => (flag ? fc.boolean() : fc.constant(false))),
  });
const forest = fc
  .integer({ min: 1, max: 16 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, i) => node(i))));

const idOf = (i: number) => `call-${i}`;
const marker = (i: number, part: string) => `«${part} of call ${i}»`;
/** Text that does not compress, the same for the same call. */
const noise = (i: number, length: number): string =>
  Array.from({ length: length / 18 }, (_, n) => Math.sin(n + 1e6 * i)).join('');

const rootOf = (nodes: readonly Node[], i: number): number => {
  const { parent = null } = nodes[i] ?? {};
  return parent === null ? i : rootOf(nodes, parent);
};

/**
 * The requests that report a forest: runs of calls, and the ends that come apart one request later.
 */
const requestsOf = (nodes: readonly Node[]): object[][] => {
  const requests: object[][] = [[]];
  nodes.forEach(({ parent, size, ended, inThread, closesRequest }, i) => {
    const id = idOf(i);
    const place = { trace_id: `trace-${rootOf(nodes, i)}`, parent_id: parent === null ? null : idOf(parent) };
    const thread = inThread ? { thread_id: 'thread', turn_id: id } : {};
    const inputs = { text: marker(i, 'start') + noise(i, sizes[size]) };
    const end = endOf({ id, output: marker(i, 'end') });
    requests
      .at(-1)
      ?.push(startOf({ id, ...place, ...thread, inputs }), ...(ended === 'together' ? [end] : []));
    if (closesRequest || ended === 'apart') requests.push(ended === 'apart' ? [end] : []);
  });
  return requests.filter((request) => request.length > 0);
};

const isGone = (nodes: readonly Node[], i: number): boolean => {
  const { isDeleted = false, parent = null } = nodes[i] ?? {};
  return isDeleted || (parent !== null && isGone(nodes, parent));
};

const byId = (calls: readonly JsonObject[]) => new Map(calls.map((call) => [call.id, call]));

/** All views of a project's calls. */
const views = (store: Store, traces: readonly string[]) =>
  Promise.all([
    query(store).then(byId),
    query(store, { filter: { traceIds: traces } }).then(byId),
    query(store, { filter: { threadIds: ['thread'] } }).then(byId),
  ]);

describe('deleting from any forest, reported in any requests', () => {
  it('removes exactly the requested calls and everything below, with payloads', {
    timeout: runs(300_000),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(forest, async (nodes) => {
        const store = await createCallStore();
        const requests = requestsOf(nodes);
        for (const request of requests) await send(store, request);
        const traces = nodes.map((_, i) => `trace-${i}`);
        const before = await views(store, traces);
        const asked = nodes.flatMap(({ isDeleted }, i) => (isDeleted ? [idOf(i)] : []));
        const gone = new Set(nodes.flatMap((_, i) => (isGone(nodes, i) ? [idOf(i)] : [])));

        const remove = () => deleteCalls(store, project, [...asked, 'nobody'], requestBudget(60_000));
        expect(await remove()).toBe(gone.size);
        const kept = before.map((view) => new Map([...view].filter(([id]) => !gone.has(String(id)))));
        expect(await views(store, traces)).toEqual(kept);
        for (const id of gone) expect(await read(store, id)).toBeNull();

        const { text, objects, ...counts } = await everythingStored(store);
        nodes.forEach(({ ended }, i) => {
          expect(text.includes(marker(i, 'start'))).toBe(!isGone(nodes, i));
          expect(text.includes(marker(i, 'end'))).toBe(!isGone(nodes, i) && ended !== 'never');
        });
        if (gone.size === nodes.length)
          expect({ objects, ...counts }).toEqual({ objects: 0, items: 0, segments: 0 });

        expect(await remove()).toBe(0);
        for (const request of requests) await send(store, request);
        expect(await views(store, traces)).toEqual(before);
      }),
      { numRuns: runs(5, 30) },
    );
  });
});
