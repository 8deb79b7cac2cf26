import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { BatchGetItemCommandInput } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { blankBlocks, blankPayloads } from '../../../../../core/records/calls/delete.ts';
import {
  deleteCalls,
  type PayloadPointer,
  PayloadReader,
  readHeaders,
} from '../../../../../core/records/calls/index.ts';
import { segmentItemKey } from '../../../../../core/records/calls/items.ts';
import {
  isBlank,
  packSegments,
  segmentLocation,
  segmentObject,
} from '../../../../../core/records/calls/payloads.ts';
import { pack, unpack } from '../../../../../foundations/encoding/index.ts';
import {
  asBytes,
  getItems,
  getObject,
  putItems,
  putObject,
  requestBudget,
  type Store,
} from '../../../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../../../foundations/wire/index.ts';
import { clientThrough, interleaved, stops } from '../../../../support/faults/intercepted.ts';
import { deep, repeatWith, runs } from '../../../../support/run/sampling.ts';
import { everythingStored } from '../../../../support/stored/stored.ts';
import {
  createCallStore,
  makeEnd,
  makeStart,
  project,
  query,
  read,
  send,
} from '../../../../support/values/calls.ts';

let store: Store;
beforeAll(async () => {
  store = await createCallStore();
});

const remove = (ids: readonly string[], from = store, spent = requestBudget(60_000)) =>
  deleteCalls(from, project, ids, spent);
const removeIn = (projectId: ProjectId, ids: readonly string[]) =>
  deleteCalls(store, projectId, ids, requestBudget(60_000));

let fresh = 0;
/** A project with nothing in it. */
const newProject = () => `acme/emptied-${fresh++}` as ProjectId;
/** Sends requests, with a project of their own instead of the usual one. */
const sendInto = async (projectId: ProjectId, requests: readonly (readonly object[])[]) => {
  for (const request of requests)
    await send(store, JSON.parse(JSON.stringify(request).replaceAll(`"${project}"`, `"${projectId}"`)));
};
const getIds = (calls: readonly JsonObject[]) => calls.map(({ id }) => String(id)).sort();
const secret = (id: string) => `secret of ${id}, `;
const start = (id: string, fields: object = {}) =>
  makeStart({ id, trace_id: 't', inputs: { q: secret(id) }, ...fields });
const nested = (id: string, fields: object = {}) => start(id, { parent_id: 'p', ...fields });
const end = (id: string, fields: object = {}) => makeEnd({ id, output: secret(id).toUpperCase(), ...fields });
/** Text that does not compress, the same for the same seed. */
const noise = (length: number, seed = Math.random()): string =>
  Array.from({ length: length / 18 }, (_, i) => Math.sin(i + 1e6 * seed)).join('');

describe('deleting calls', () => {
  it('takes effect on a payload that was read before, beside one that stays', async () => {
    const text = noise(2000);
    await send(store, [nested('read-a', { inputs: { q: text } }), nested('read-b', { inputs: { q: text } })]);
    const before = await read(store, 'read-b');
    expect(await read(store, 'read-a')).not.toBeNull();
    await remove(['read-a']);
    expect(await read(store, 'read-a')).toBeNull();
    expect(await read(store, 'read-b')).toEqual(before);
  });

  it('includes their descendants at any depth and nothing else', async () => {
    const own = await createCallStore();
    const batch = [
      start('root'),
      start('child', { parent_id: 'root' }),
      end('child'),
      start('leaf', { parent_id: 'child' }),
      start('sibling', { parent_id: 'root' }),
      start('stranger', { trace_id: 'u', thread_id: 'h', turn_id: 'stranger' }),
      end('stranger'),
    ];
    await send(own, batch);
    const stranger = await read(own, 'stranger');
    expect(await remove(['child'], own)).toBe(2);
    expect(getIds(await query(own))).toEqual(['root', 'sibling', 'stranger']);
    expect(await remove(['root'], own)).toBe(2);
    expect(await query(own)).toEqual([stranger]);
    expect(await query(own, { filter: { threadIds: ['h'] } })).toEqual([stranger]);
    expect(await query(own, { filter: { traceIds: ['t'] } })).toEqual([]);
    expect(await read(own, 'root')).toBeNull();
    const stored = await everythingStored(own);
    expect(stored).toMatchObject({ items: 1, segments: 0 });
    expect(stored.text).toContain(secret('stranger'));
    for (const id of ['root', 'child', 'leaf', 'sibling']) {
      expect(stored.text).not.toContain(secret(id));
      expect(stored.text).not.toContain(secret(id).toUpperCase());
    }
  });

  it.each([
    ['inside its item', [[start('a')]]],
    ['inside both of its items', [[start('a')], [end('a')]]],
    ['inside one item', [[start('a'), end('a')]]],
    ['in an item of a list', [[start('a'), start('b', { parent_id: 'p' }), end('a')]]],
    ['in a segment', [[nested('a'), nested('b', { inputs: {} }), end('a')]]],
    [
      'in a segment for each part',
      [
        [nested('a'), nested('b', { inputs: {} })],
        [end('a'), end('b', { output: 0 })],
      ],
    ],
    ['in an object', [[start('a', { inputs: { q: secret('a') + noise(400_000) } })]]],
    ['in an item whose end has been replaced', [[start('a'), end('a')], [end('a', { output: 'other' })]]],
    ['of an end without a start', [[end('a')]]],
    ['of a start that another has replaced', [[nested('a'), nested('b')], [nested('a', { inputs: {} })]]],
    [
      'of a start that several have replaced, the first again',
      [
        [nested('a'), nested('b')],
        [nested('a', { inputs: {} })],
        [nested('a'), nested('b')],
        [nested('a', { inputs: { n: 1 } })],
      ],
    ],
    [
      'of an end that another has replaced',
      [
        [nested('a'), nested('b', { inputs: {} })],
        [end('a'), end('b', { output: 0 })],
        [end('a', { output: 1 })],
        [end('a', { output: 2 }), end('b', { output: 0 })],
      ],
    ],
    [
      'of a start and an end that have been replaced together, in a segment and in an object',
      [
        [nested('a'), nested('b', { inputs: {} }), end('a')],
        [nested('a', { inputs: { q: secret('a') + noise(400_000) } }), end('a', { output: secret('a') })],
        [nested('a', { inputs: {} }), end('a', { output: 0 })],
      ],
    ],
    [
      'of an end that came beside its start and was replaced by one alone',
      [[nested('a', { inputs: {} }), end('a'), nested('b')], [end('a', { output: 0 })]],
    ],
    [
      'of an end without a start that another has replaced',
      [[end('a'), nested('b')], [end('a', { output: 0 })]],
    ],
  ])('leaves nothing of a payload %s', async (_, requests) => {
    const projectId = newProject();
    await sendInto(projectId, requests);
    expect((await everythingStored(store, projectId)).text).toMatch(/secret of a/i);
    await removeIn(projectId, ['a']);
    expect((await everythingStored(store, projectId)).text).not.toMatch(/secret of a/i);
    expect(await removeIn(projectId, ['b'])).toBe(
      requests.flat().some(({ req }) => JSON.stringify(req).includes('"b"')) ? 1 : 0,
    );
    expect(await everythingStored(store, projectId)).toEqual({
      text: '',
      items: 0,
      segments: 0,
      objects: 0,
    });
  });

  it('counts each call once and ignores unknown ids', async () => {
    await send(store, [
      start('x'),
      start('y', { parent_id: 'x' }),
      start('z', { parent_id: 'y' }),
      end('lone'),
    ]);
    expect(await remove([])).toBe(0);
    expect(await remove(['nobody', 'lone'])).toBe(0);
    expect(await remove(['y', 'x', 'z', 'x', 'nobody'])).toBe(3);
    expect(await remove(['y', 'x', 'z', 'x', 'nobody'])).toBe(0);
  });

  it('ends at a cycle of parents', async () => {
    await send(store, [
      start('hen', { parent_id: 'egg' }),
      start('egg', { parent_id: 'hen' }),
      start('self', { parent_id: 'self' }),
    ]);
    expect(await remove(['hen', 'self'])).toBe(3);
  });

  it('writes a segment once for all its calls, and never a second time', async () => {
    const ids = Array.from({ length: 50 }, (_, i) => `shared-${i}`);
    await send(
      store,
      ids.map((id, i) => start(id, { trace_id: id, inputs: { q: secret(id) + noise(200), i } })),
    );
    const spent = requestBudget(60_000);
    expect(await remove(ids.slice(1), store, spent)).toBe(49);
    // Starts; traces; a first look at starts and ends; the segment, read and written; the starts'
    // deletion; a last look at both.
    expect(spent.meter.requests).toBe(1 + 49 + 1 + 2 + 49 + 1 + 1);
    expect(await read(store, 'shared-0')).toMatchObject({ inputs: { i: 0 } });
  });

  it('lets the same calls be reported again', async () => {
    const batch = [start('phoenix'), end('phoenix'), start('witness'), end('witness')];
    await send(store, batch);
    const before = await Promise.all([read(store, 'phoenix'), read(store, 'witness')]);
    for (const ids of [['phoenix'], ['phoenix', 'witness']]) {
      await remove(ids);
      expect(await read(store, 'phoenix')).toBeNull();
      await send(store, batch);
      expect(await Promise.all([read(store, 'phoenix'), read(store, 'witness')])).toEqual(before);
      expect(getIds(await query(store, { filter: { callIds: ['phoenix', 'witness'] } }))).toHaveLength(2);
    }
  });

  it('works for a trace of more than a thousand calls, flat and deep', async () => {
    const own = await createCallStore();
    const third = deep ? 800 : 400;
    const calls = Array.from({ length: 3 * third }, (_, i) =>
      // Three chains, each as deep as a run-away agent goes, and the rest flat.
      start(`many-${i}`, i < 3 ? {} : { parent_id: i < 300 ? `many-${i - 3}` : `many-${i % 3}` }),
    );
    for (let i = 0; i < calls.length; i += third) await send(own, calls.slice(i, i + third));
    expect(await deleteCalls(own, project, ['many-1'], requestBudget(100_000))).toBe(third);
    expect(await query(own, { columns: ['id'] })).toHaveLength(2 * third);
    expect(await deleteCalls(own, project, ['many-0', 'many-2'], requestBudget(100_000))).toBe(2 * third);
    expect(await everythingStored(own)).toEqual({ text: '', items: 0, segments: 0, objects: 0 });
  });
});

describe('a reader with the header of a call that is deleted then', () => {
  const kinds: Record<string, readonly (readonly object[])[]> = {
    'inside its item': [[start('gone')], [start('stays')]],
    'inside an item of a list': [[start('gone'), end('gone'), nested('stays')]],
    'in a segment that others share': [[nested('gone'), end('gone'), nested('stays')]],
    'in a segment of its own': [[start('gone', { inputs: { q: noise(2000) } })], [start('stays')]],
    'in an object': [[start('gone', { inputs: { q: noise(400_000) } })], [start('stays')]],
  };

  it.each(Object.entries(kinds))('leaves the call out if its payload was %s', async (_, requests) => {
    const projectId = newProject();
    await sendInto(projectId, requests);
    const headers = await readHeaders(store, projectId, ['gone', 'stays'], requestBudget(10_000));
    expect(headers).toHaveLength(2);
    await removeIn(projectId, ['gone']);
    const calls = await new PayloadReader(store, projectId, requestBudget(10_000)).read(headers);
    expect(calls.map(({ header }) => header.id)).toEqual(['stays']);
  });

  it.each(Object.entries(kinds))(
    'is a query, at any moment, its payload being %s',
    async (kind, requests) => {
      const watched = newProject();
      await sendInto(watched, requests);
      for (const at of await stops(store, kind, (from) => query(from, { projectId: watched }))) {
        const projectId = newProject();
        await sendInto(projectId, requests);
        const before = await query(store, { projectId });
        let answer: JsonObject[] = [];
        await interleaved(
          store,
          at,
          async (gated) => {
            answer = await query(gated, { projectId });
          },
          () => removeIn(projectId, ['gone']),
        );
        const stays = before.filter(({ id }) => id === 'stays');
        expect([before, stays], `${repeatWith}: stopped before command ${at}`).toContainEqual(answer);
      }
    },
  );

  it('gets the call if it was reported again', async () => {
    const batch = [nested('back'), nested('beside')];
    await send(store, batch);
    const headers = await readHeaders(store, project, ['back'], requestBudget(10_000));
    const reader = new PayloadReader(store, project, requestBudget(10_000));
    await remove(['back']);
    expect(await reader.read(headers)).toEqual([]);
    await send(store, batch);
    expect(await reader.read(headers)).toMatchObject([{ header: { id: 'back' } }]);
  });

  it('gets the call even if an eventually consistent read is stale', async () => {
    const own = await createCallStore();
    const batch = [nested('back'), nested('beside')];
    await send(own, batch);
    const headers = await readHeaders(own, project, ['back'], requestBudget(10_000));
    await remove(['back'], own);
    const seen: Buffer[] = [];
    const client = clientThrough(async (_operation, input, send) => {
      const { RequestItems = {} } = input as BatchGetItemCommandInput;
      const isEventual = Object.values(RequestItems).some(({ ConsistentRead }) => ConsistentRead === false);
      const answer = await send();
      if (!isEventual) return answer;
      const [stale = await buffer(answer.response.body)] = seen;
      if (seen.length === 0) seen.push(stale);
      answer.response.body = Readable.from([stale]);
      return answer;
    });
    const stale = { ...own, table: { ...own.table, client } };
    expect(await new PayloadReader(stale, project, requestBudget(10_000)).read(headers)).toEqual([]);
    await send(own, batch);
    expect(await new PayloadReader(stale, project, requestBudget(10_000)).read(headers)).toHaveLength(1);
    expect(seen).toHaveLength(1);
  });
});

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

const makeId = (i: number) => `call-${i}`;
const marker = (i: number, part: string) => `«${part} of call ${i}»`;

const findRoot = (nodes: readonly Node[], i: number): number => {
  const { parent = null } = nodes[i] ?? {};
  return parent === null ? i : findRoot(nodes, parent);
};

/**
 * The requests that report a forest: runs of calls, and the ends that come apart one request later.
 */
const toRequests = (nodes: readonly Node[]): object[][] => {
  const requests: object[][] = [[]];
  nodes.forEach(({ parent, size, ended, inThread, closesRequest }, i) => {
    const id = makeId(i);
    const place = {
      trace_id: `trace-${findRoot(nodes, i)}`,
      parent_id: parent === null ? null : makeId(parent),
    };
    const thread = inThread ? { thread_id: 'thread', turn_id: id } : {};
    const inputs = { text: marker(i, 'start') + noise(sizes[size], i) };
    const end = makeEnd({ id, output: marker(i, 'end') });
    requests
      .at(-1)
      ?.push(makeStart({ id, ...place, ...thread, inputs }), ...(ended === 'together' ? [end] : []));
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
    query(store, { filter: { traceIds: [...traces] } }).then(byId),
    query(store, { filter: { threadIds: ['thread'] } }).then(byId),
  ]);

describe('deleting from any forest, reported in any requests', () => {
  it('removes exactly the requested calls and everything below, with payloads', {
    timeout: runs(300_000),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(forest, async (nodes) => {
        const store = await createCallStore();
        const requests = toRequests(nodes);
        for (const request of requests) await send(store, request);
        const traces = nodes.map((_, i) => `trace-${i}`);
        const before = await views(store, traces);
        const asked = nodes.flatMap(({ isDeleted }, i) => (isDeleted ? [makeId(i)] : []));
        const gone = new Set(nodes.flatMap((_, i) => (isGone(nodes, i) ? [makeId(i)] : [])));

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

const makePointers = (lengths: readonly number[]): PayloadPointer[] => {
  let offset = 0;
  return lengths.map((length) => {
    offset += length;
    return { segment: '00', offset: offset - length, length };
  });
};
const blocksIn = (bytes: Uint8Array, pointers: readonly PayloadPointer[]): string[] =>
  pointers.map(({ offset, length }) => Buffer.from(bytes.subarray(offset, offset + length)).toString());

describe('blanking blocks of a segment', () => {
  const texts = fc.array(
    fc.json().map((text) => `${text}\n`),
    { minLength: 1, maxLength: 8 },
  );

  it('leaves every other block unchanged and in place, whatever its content', () => {
    fc.assert(
      fc.property(texts, fc.func(fc.boolean()), (blocks, isDeleted) => {
        const pointers = makePointers(blocks.map((block) => Buffer.byteLength(block)));
        const bytes = Buffer.from(blocks.join(''));
        const deleted = pointers.filter((_, i) => isDeleted(i));
        const state = blankBlocks(bytes, deleted);
        expect(state).toBe(
          deleted.length === 0 ? 'untouched' : deleted.length === blocks.length ? 'empty' : 'blanked',
        );
        const found = blocksIn(bytes, pointers);
        blocks.forEach((block, i) => {
          if (isDeleted(i)) expect(found[i]).toMatch(/^\0+$/);
          else expect(found[i]).toBe(block);
        });
        expect(
          pointers.map((pointer, i) => isBlank(Buffer.from(found[i] ?? '')) === deleted.includes(pointer)),
        ).not.toContain(false);
        expect(blankBlocks(bytes, deleted)).toBe('untouched');
      }),
    );
  });

  it('makes them compress to next to nothing', async () => {
    expect((await pack(Buffer.alloc(6_000_000))).length).toBeLessThan(1000);
  });

  it('fails if a segment is too short for a block', () => {
    expect(() => blankBlocks(Buffer.from('{}\n'), makePointers([2, 3]))).toThrow('ends before byte 5');
  });
});

describe.each([
  ['an item', 2000],
  ['an object', 500_000],
])('a segment that is %s', (home, length) => {
  let store: Store;
  beforeAll(async () => {
    store = await createCallStore();
  });

  let fresh = 0;
  /**
   * Stores a segment of two blocks. What one request makes is cut sooner; to what is tested here
   * that makes no difference.
   */
  const twoBlocks = async () => {
    const owner = String(fresh++);
    const blocks = ['a', 'b'].map((name, i) => `${name} ${noise(length / 2, 2 * fresh + i)}\n`);
    const both = [{ owner, bytes: Buffer.from(blocks.join('')) }];
    const [segment] = (await packSegments(project, both, undefined)).segments;
    if (!segment) throw new Error('no segment');
    const { id, bytes } = segment;
    expect(segmentLocation(id)).toBe(home === 'an item' ? 'table' : 'bucket');
    const item = { ...segmentItemKey(project, id), b: bytes, x: 9_000_000_000 };
    const put = () =>
      home === 'an item'
        ? putItems(store.table, [item], requestBudget(10_000))
        : putObject(store.bucket, segmentObject(project, id), bytes, requestBudget(10_000));
    await put();
    const places = makePointers(blocks.map((block) => block.length)).map((place) => ({
      ...place,
      segment: id,
    }));
    return { id, blocks, places, put };
  };

  const stored = async (id: string): Promise<Uint8Array | undefined> => {
    const [item] =
      home === 'an item'
        ? await getItems(store.table, [segmentItemKey(project, id)], requestBudget(10_000), {
            consistent: true,
          })
        : [];
    const packed =
      asBytes(item?.b) ?? (await getObject(store.bucket, segmentObject(project, id), requestBudget(10_000)));
    if (item) expect(item.x).toBe(9_000_000_000);
    return packed;
  };
  const contents = async (id: string, places: readonly PayloadPointer[]): Promise<string[] | undefined> => {
    const packed = await stored(id);
    return packed && blocksIn(unpack(packed), places);
  };
  const blank = (from: Store, places: readonly (PayloadPointer | undefined)[]) =>
    blankPayloads(
      from,
      project,
      places.filter((place) => place !== undefined),
      requestBudget(30_000),
    );

  it('keeps the other block, its position and its expiry, and shrinks', async () => {
    const { id, blocks, places } = await twoBlocks();
    const before = (await stored(id))?.length ?? 0;
    expect(await blank(store, [places[0]])).toEqual(new Set([id]));
    expect((await contents(id, places))?.[1]).toBe(blocks[1]);
    expect((await contents(id, places))?.[0]).toMatch(/^\0+$/);
    expect((await stored(id))?.length).toBeLessThan(0.6 * before);
  });

  it('is not written if the block is blank already', async () => {
    const { places } = await twoBlocks();
    await blank(store, [places[0]]);
    expect(await blank(store, [places[0]])).toEqual(new Set());
  });

  it('is deleted when nothing else is left in it, even if it is gone already', async () => {
    const { id, places } = await twoBlocks();
    await blank(store, [places[0]]);
    expect(await blank(store, [places[1]])).toEqual(new Set([id]));
    expect(await stored(id)).toBeUndefined();
    expect(await blank(store, places)).toEqual(new Set());
  });

  it('loses both blocks to two writers that blank one each at any moment', async () => {
    for (let at = 0, isStopped = true; isStopped; at++) {
      const { id, places } = await twoBlocks();
      isStopped = await interleaved(
        store,
        at,
        (gated) => blank(gated, [places[0]]),
        () => blank(store, [places[1]]),
      );
      expect(await stored(id), `stopped before command ${at}`).toBeUndefined();
    }
  });

  it('is complete, or without the blanked block, if it is stored again meanwhile', async () => {
    for (let at = 0, isStopped = true; isStopped; at++) {
      const { id, blocks, places, put } = await twoBlocks();
      isStopped = await interleaved(store, at, (gated) => blank(gated, [places[0]]), put);
      const [first, second] = (await contents(id, places)) ?? [];
      expect(second, `stopped before command ${at}`).toBe(blocks[1]);
      expect([blocks[0], '\0'.repeat(blocks[0]?.length ?? 0)]).toContain(first);
    }
  });
});

describe('a segment that expires', () => {
  it('keeps the later expiry of a concurrent report with the same content', async () => {
    const store = await createCallStore();
    const { segments, pointers } = await packSegments(
      project,
      ['a', 'b'].map((owner) => ({ owner, bytes: Buffer.from(`"${owner}"\n`) })),
      { days: 30, bucketDays: 30 },
    );
    const [segment] = segments;
    if (!segment) throw new Error('no segment');
    const key = segmentItemKey(project, segment.id);
    const put = (x: number) =>
      putItems(store.table, [{ ...key, b: segment.bytes, x }], requestBudget(10_000));
    for (let at = 0, isStopped = true; isStopped; at++) {
      await put(9_000_000_000);
      isStopped = await interleaved(
        store,
        at,
        (gated) => blankPayloads(gated, project, pointers.slice(0, 1), requestBudget(10_000)),
        () => put(9_000_000_001),
      );
      const [item] = await getItems(store.table, [key], requestBudget(10_000), { consistent: true });
      expect(item?.x, `stopped before command ${at}`).toBe(9_000_000_001);
    }
  });
});
