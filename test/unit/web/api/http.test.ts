import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRetryAfter, splitLines, toFailure } from '../../../../web/api/http.ts';

const collect = async (chunks: readonly Uint8Array[]): Promise<string[]> => {
  const lines: string[] = [];
  const source = (async function* () {
    yield* chunks;
  })();
  for await (const batch of splitLines(source)) lines.push(...batch);
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

describe('an answer that is an error', () => {
  const words = async (status: number, body: unknown): Promise<string> =>
    (await toFailure(new Response(JSON.stringify(body), { status }))).message;
  const detail = (loc: readonly string[], msg: string) => ({ detail: [{ loc, msg, type: 'any' }] });

  it.each([
    [
      403,
      ['body', 'project_id'],
      'this key may not read the project a/b',
      'This key may not read the project a/b.',
    ],
    [
      413,
      ['body', 'rows'],
      'the request is over 6 MB; send fewer rows',
      'rows: the request is over 6 MB; send fewer rows.',
    ],
    [422, ['body', 'query', 'limit'], 'should be at most 1000', 'query.limit: should be at most 1000.'],
    [429, [], 'too many requests; wait', 'Too many requests; wait.'],
    [503, ['storage'], 'storage was late; try again', 'Storage was late; try again.'],
  ])('says with status %i what the service says', async (status, loc, msg, message) => {
    expect(await words(status, detail(loc, msg))).toBe(message);
  });

  it('names all problems', async () => {
    const body = {
      detail: [...detail(['body', 'a'], 'is missing').detail, ...detail([], 'try again').detail],
    };
    expect(await words(422, body)).toBe('a: is missing. Try again.');
  });

  it('is said in general words if the service says nothing', async () => {
    expect(await words(503, {})).toBe('The service is busy. Wait a moment, then try again.');
    expect(await words(418, undefined)).toBe('The service answered with status 418. Try again.');
  });

  it('says of a key that is not valid what a person can do, not how programs send one', async () => {
    const body = detail(['header', 'authorization'], 'a valid key is required: HTTP Basic with the key');
    expect(await words(401, body)).toMatch(/^This key is not accepted/);
  });
});

describe('how long to wait', () => {
  it.each([
    [{ 'retry-after': '12' }, 12_000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '12', 'retry-after-ms': '250' }, 250],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('is read from %j', (headers, ms) => {
    expect(readRetryAfter(new Headers(headers as Record<string, string>))).toBe(ms);
  });

  it('is a date, too', () => {
    const at = new Date(Date.now() + 60_000).toUTCString();
    const ms = readRetryAfter(new Headers({ 'retry-after': at })) ?? 0;
    expect(ms).toBeGreaterThan(50_000);
    expect(ms).toBeLessThanOrEqual(60_000);
  });
});
