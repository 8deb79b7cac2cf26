import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Block,
  blockFields,
  cutBlock,
  endBlock,
  packSegments,
  planPayloads,
  segmentLocation,
  segmentObject,
  smallUsage,
  startBlock,
  toPayload,
} from '../../../../../core/records/calls/payloads.ts';
import { groupReports } from '../../../../../core/records/calls/reports.ts';
import { unpack } from '../../../../../foundations/encoding/index.ts';
import type { JsonObject, JsonValue, ProjectId } from '../../../../../foundations/wire/index.ts';
import { endReport, startReport } from '../../../../support/values/reports.ts';

const project = 'acme/airline' as ProjectId;
const block = (owner: string, bytes: Buffer | string): Block => ({
  owner,
  bytes: Buffer.from(bytes as string),
});

const read = async (blocks: readonly Block[]): Promise<Buffer[]> => {
  const { segments, pointers } = await packSegments(project, blocks, undefined);
  const unpacked = new Map(
    await Promise.all(segments.map(async ({ id, bytes }) => [id, unpack(bytes)] as const)),
  );
  return pointers.map((pointer) =>
    Buffer.from(cutBlock(unpacked.get(pointer.segment ?? '') ?? Buffer.of(), pointer)),
  );
};

describe('segments', () => {
  it('give every block back', async () => {
    const blocks = fc.array(fc.string({ maxLength: 200 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(blocks, async (texts) => {
        const back = await read(texts.map((text, i) => block(String(i), text)));
        expect(back.map(String)).toEqual(texts);
      }),
    );
  });

  it('store repeated content once', async () => {
    const history = randomBytes(4000).toString('base64');
    const { segments } = await packSegments(
      project,
      Array.from({ length: 50 }, (_, i) => block(String(i), history + i)),
      undefined,
    );
    expect(segments).toHaveLength(1);
    expect(segments[0]?.bytes.length).toBeLessThan(history.length);
  });

  it('are closed at about 64 KB compressed', async () => {
    const blocks = Array.from({ length: 60 }, (_, i) => block(String(i), randomBytes(5000)));
    const { segments } = await packSegments(project, blocks, undefined);
    expect(segments.length).toBeGreaterThan(3);
    for (const { id, bytes } of segments) {
      expect(bytes.length).toBeLessThan(80 * 1024);
      expect(segmentLocation(id)).toBe('table');
    }
    expect(await read(blocks)).toEqual(blocks.map(({ bytes }) => bytes));
  });

  it('go to the bucket if they are too big for an item', async () => {
    const blocks = [block('big', randomBytes(300_000)), block('small', 'x')];
    const homes = async (days?: number) => {
      const { segments } = await packSegments(project, blocks, { days, bucketDays: days });
      return segments.map(({ id }) =>
        segmentLocation(id) === 'bucket' ? segmentObject(project, id) : 'table',
      );
    };
    expect(await homes()).toEqual([expect.stringMatching(/^segments\/kept\/acme\/airline\//), 'table']);
    expect(await homes(90)).toEqual([
      expect.stringMatching(/^segments\/expiring-90\/acme\/airline\//),
      'table',
    ]);
  });

  it('have the same name for the same request, and another for another owner or project', async () => {
    const name = async (owner: string, projectId = project) =>
      (await packSegments(projectId, [block(owner, 'x')], undefined)).segments[0]?.id;
    expect(await name('a')).toBe(await name('a'));
    expect(await name('b')).not.toBe(await name('a'));
    expect(await name('a', 'acme/other' as ProjectId)).not.toBe(await name('a'));
  });

  it('are refused if they are damaged', async () => {
    const { segments } = await packSegments(project, [block('a', 'hello hello hello')], undefined);
    const bytes = Buffer.from(segments[0]?.bytes ?? []);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    expect(() => unpack(bytes)).toThrow();
    expect(() => cutBlock(Buffer.from('short'), { segment: '00', offset: 3, length: 9 })).toThrow(
      'ends before',
    );
  });
});

describe('payload blocks', () => {
  const value = fc.jsonValue() as fc.Arbitrary<JsonValue>;
  const object = fc.dictionary(fc.string(), value) as fc.Arbitrary<JsonObject>;

  it('are split into their fields as JSON text', () => {
    fc.assert(
      fc.property(
        object,
        object,
        value,
        fc.option(fc.string()),
        object,
        (attributes, inputs, output, exception, summary) => {
          const start = Buffer.from(startBlock({ attributes, inputs }));
          const end = Buffer.from(endBlock({ output, exception, summary }));
          expect(toPayload(blockFields(start), blockFields(end))).toEqual({
            attributes: JSON.stringify(attributes),
            inputs: JSON.stringify(inputs),
            output: JSON.stringify(output),
            exception: JSON.stringify(exception),
            summary: JSON.stringify(summary),
          });
        },
      ),
    );
  });

  it('keep line separators, lone surrogates and keys such as __proto__', () => {
    const inputs = JSON.parse('{"__proto__":{"a":"\\u2028\\ud800\\n"},"a.b":1,"$c":-1e308}') as JsonObject;
    const { inputs: text } = toPayload(
      blockFields(Buffer.from(startBlock({ attributes: {}, inputs }))),
      null,
    );
    expect(JSON.parse(text)).toEqual(inputs);
    expect(Object.hasOwn(JSON.parse(text), '__proto__')).toBe(true);
  });
});

describe('smallUsage', () => {
  it('puts only a small object into the header', () => {
    const usage = { 'gpt-4o': { prompt_tokens: 1 } };
    expect(smallUsage({ usage })).toEqual(usage);
    expect(smallUsage({})).toBeNull();
    for (const summary of [
      { usage: 'much' },
      { usage: { model: 'x'.repeat(300) } },
      { 'usage.total': 1 },
      JSON.parse(`{"usage":{"a":${'['.repeat(120)}${']'.repeat(120)}}}`) as JsonObject,
      JSON.parse('{"usage":{"__proto__":1}}') as JsonObject,
      { usage: { 'a\ud800': { prompt_tokens: 1 } } },
    ]) {
      expect(smallUsage(summary)).toBe(true);
    }
  });
});

describe('the plan of payloads', () => {
  /**
   * Plans for so many calls that are reported whole, of which the first are listed.
   *
   * @param itemBytes of each call's item with its payload
   */
  const plan = async (count: number, { listed = 0, itemBytes = 0, noise = 0 } = {}) => {
    const { calls } = groupReports(
      Array.from({ length: count }, (_, i) => [
        startReport({ id: `call-${i}`, inputs: { text: randomBytes(noise).toString('base64') } }),
        endReport(`call-${i}`, { output: i }),
      ]).flat(),
    );
    const { locations, segments } = await planPayloads(
      project,
      calls.map((call, i) => ({ call, isListed: i < listed, itemBytesWith: () => itemBytes })),
      undefined,
    );
    const placed = new Map(locations);
    const inline = calls.map((call) => placed.get(call)?.inline !== undefined);
    return { calls, placed, segments, inline };
  };

  it('puts the payload of an only call into its item, however large that gets', async () => {
    const { inline, segments } = await plan(1, { itemBytes: 5000 });
    expect([inline, segments]).toEqual([[true], []]);
  });

  it('puts small payloads of few listed calls into their items, and all others into a segment', async () => {
    const { inline, placed, calls, segments } = await plan(3, { listed: 1 });
    expect(inline).toEqual([true, false, false]);
    expect(segments).toHaveLength(1);
    const [segment] = segments;
    const unpacked = unpack(segment?.bytes ?? Buffer.of());
    for (const call of calls.slice(1)) {
      const { start, end } = placed.get(call) ?? {};
      if (!start || !end || !call.start || !call.end) throw new Error('a call without its payload');
      expect([start.segment, end.segment]).toEqual([segment?.id, segment?.id]);
      expect(String(cutBlock(unpacked, start))).toBe(startBlock(call.start));
      expect(String(cutBlock(unpacked, end))).toBe(endBlock(call.end));
    }
  });

  it.each([
    ['their items would take another write unit', { itemBytes: 1025 }],
    ['they are large', { noise: 1000 }],
  ])('puts payloads of listed calls into a segment if %s', async (_, sizes) => {
    expect((await plan(3, { listed: 1, ...sizes })).inline).toEqual([false, false, false]);
    expect((await plan(3, { listed: 1, itemBytes: 1024 })).inline).toEqual([true, false, false]);
  });

  it('puts all payloads into segments if many calls are listed', async () => {
    expect((await plan(8, { listed: 4 })).inline.filter(Boolean)).toHaveLength(4);
    expect((await plan(8, { listed: 5 })).inline.filter(Boolean)).toHaveLength(0);
  });
});
