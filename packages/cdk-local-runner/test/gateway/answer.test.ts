import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAnswer, parseMetadata, splitOutput } from '../../src/gateway/answer.ts';
import type { Output } from '../../src/runtime/worker.ts';

const parse = (answer: object) => {
  const { status, headers, body } = parseAnswer(JSON.stringify(answer));
  return { status, headers, body: body.toString() };
};

describe('a function’s answer', () => {
  it('gives status, headers and body', () => {
    expect(parse({ statusCode: 201, headers: { 'content-type': 'text/csv', 'x-n': 1 }, body: 'ä' })).toEqual({
      status: 201,
      headers: [
        ['content-type', 'text/csv'],
        ['x-n', '1'],
      ],
      body: 'ä',
    });
  });

  it('is JSON without a content type, and empty without a body', () => {
    expect(parse({ statusCode: 200 })).toEqual({
      status: 200,
      headers: [['content-type', 'application/json']],
      body: '',
    });
  });

  it('may repeat a header, which overrides the single one of that name', () => {
    const headers = { 'X-A': 'single' };
    expect(parse({ statusCode: 200, headers, multiValueHeaders: { 'x-a': ['1', '2'] } }).headers).toEqual([
      ['content-type', 'application/json'],
      ['x-a', '1'],
      ['x-a', '2'],
    ]);
  });

  it('cannot set the headers that API Gateway reserves', () => {
    const headers = {
      'WWW-Authenticate': 'Basic',
      'content-length': '5',
      connection: 'close',
      'x-own': 'kept',
    };
    expect(parse({ statusCode: 401, headers }).headers.map(([name]) => name)).toEqual([
      'content-type',
      'x-amzn-remapped-www-authenticate',
      'x-amzn-remapped-content-length',
      'x-amzn-remapped-connection',
      'x-own',
    ]);
  });

  it('stays in base64, since the API has no binary media types', () => {
    expect(parse({ statusCode: 200, body: 'YQ==', isBase64Encoded: true }).body).toBe('YQ==');
  });

  it.each([null, 'text', {}, { statusCode: 'fine' }, { statusCode: 200, body: {} }, { statusCode: 99 }])(
    'is refused if it is %j',
    (answer) => {
      expect(() => parseAnswer(JSON.stringify(answer))).toThrow();
    },
  );
});

it('The metadata of a streamed answer may have cookies', () => {
  expect(parseMetadata('{"statusCode":200,"cookies":["a=1","b=2"]}').headers).toEqual([
    ['content-type', 'application/json'],
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
  ]);
});

const nul = '\0'.repeat(8);

async function* output(pieces: readonly Uint8Array[], left: () => void = () => {}): Output {
  try {
    yield* pieces;
  } finally {
    left();
  }
}

/** Cuts bytes at the given places. */
const cut = (bytes: Uint8Array, places: readonly number[]): Uint8Array[] => {
  const at = [0, ...[...places].sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end));
};

const collect = async (body: Output): Promise<Buffer> => Buffer.concat(await Array.fromAsync(body));

describe('a streamed answer', () => {
  it('is split at its delimiter, for any chunks', async () => {
    const text = fc.string({ unit: 'grapheme' }).map((words) => JSON.stringify({ words }));
    const places = fc.array(fc.nat(60), { maxLength: 12 });
    const body = fc.uint8Array({ maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(text, body, places, async (metadata, rest, where) => {
        const bytes = Buffer.concat([Buffer.from(metadata + nul), rest]);
        const pieces = cut(
          bytes,
          where.map((place) => Math.min(place, bytes.length)),
        );
        const parted = await splitOutput(output(pieces));
        expect(parted.metadata).toBe(metadata);
        // NULs that follow the delimiter belong to the body.
        expect(await collect(parted.body)).toEqual(Buffer.from(rest));
      }),
    );
  });

  it('is refused if it ends without a delimiter', async () => {
    await expect(splitOutput(output([Buffer.from('text')]))).rejects.toThrow('wrote no metadata');
  });

  it('is refused and ended if it has no delimiter for too long', async () => {
    let left = false;
    const endless = output(
      Array.from({ length: 100 }, () => Buffer.alloc(10_000, 'x')),
      () => {
        left = true;
      },
    );
    await expect(splitOutput(endless)).rejects.toThrow('wrote no metadata');
    expect(left).toBe(true);
  });

  it('is ended when the reader of its body stops', async () => {
    let left = false;
    const pieces = [Buffer.from(`{}${nul}a`), Buffer.from('b'), Buffer.from('c')];
    const { body } = await splitOutput(
      output(pieces, () => {
        left = true;
      }),
    );
    for await (const piece of body) {
      expect(piece.toString()).toBe('a');
      break;
    }
    expect(left).toBe(true);
  });
});
