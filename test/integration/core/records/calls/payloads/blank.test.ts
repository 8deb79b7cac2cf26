import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { pack, unpack } from '../../../../../../core/foundations/encoding/index.ts';
import {
  asBytes,
  getItems,
  getObject,
  putItems,
  putObject,
  requestBudget,
  type Store,
} from '../../../../../../core/foundations/storage/index.ts';
import { segmentItemKey } from '../../../../../../core/records/calls/codec/keys.ts';
import type { PayloadPointer } from '../../../../../../core/records/calls/index.ts';
import { blankBlocks, blankPayloads, isBlank } from '../../../../../../core/records/calls/payloads/blank.ts';
import {
  packSegments,
  segmentLocation,
  segmentObject,
} from '../../../../../../core/records/calls/payloads/segments.ts';
import { createCallStore, project } from '../../../../../support/calls.ts';
import { interleaved } from '../../../../../support/intercepted.ts';

const pointersOf = (lengths: readonly number[]): PayloadPointer[] => {
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
        const pointers = pointersOf(blocks.map((block) => Buffer.byteLength(block)));
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
    expect(() => blankBlocks(Buffer.from('{}\n'), pointersOf([2, 3]))).toThrow('ends before byte 5');
  });
});

/** Text that does not compress, another for every seed. */
const noise = (length: number, seed: number): string =>
  Array.from({ length: length / 18 }, (_, i) => Math.sin(i + 1e6 * seed)).join('');

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
    const places = pointersOf(blocks.map((block) => block.length)).map((place) => ({
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
    return packed && blocksIn(await unpack(packed), places);
  };
  const blank = (of: Store, places: readonly (PayloadPointer | undefined)[]) =>
    blankPayloads(
      of,
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
      30,
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
