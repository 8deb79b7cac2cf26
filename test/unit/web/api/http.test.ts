import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { linesOf } from '../../../../web/api/http.ts';

const collect = async (chunks: readonly Uint8Array[]): Promise<string[]> => {
  const lines: string[] = [];
  const source = (async function* () {
    yield* chunks;
  })();
  for await (const batch of linesOf(source)) lines.push(...batch);
  return lines;
};

it('lines are the same, however they are cut into chunks', async () => {
  const cuts = fc.array(fc.nat(200), { maxLength: 8 });
  const values = fc.array(fc.record({ text: fc.string({ unit: 'grapheme' }) }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(values, cuts, fc.boolean(), async (records, at, ended) => {
      const text = records.map((record) => JSON.stringify(record)).join('\n') + (ended ? '\n' : '');
      const bytes = new TextEncoder().encode(text);
      const edges = [0, ...at.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
      const chunks = edges.slice(1).map((edge, index) => bytes.slice(edges[index], edge));
      expect((await collect(chunks)).map((line) => JSON.parse(line) as unknown)).toEqual(records);
    }),
  );
});
