import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../../foundations/wire/index.ts';
import { contentCoding, mediaType } from '../../../../../lambdas/common/http/negotiate.ts';

const written = ['application/jsonl', 'application/x-ndjson'];
const accepting = (accept?: string) =>
  mediaType({ headers: accept === undefined ? {} : { Accept: accept } }, written);

describe('mediaType', () => {
  it.each([
    [undefined, 'application/jsonl'],
    ['*/*', 'application/jsonl'],
    ['application/*', 'application/jsonl'],
    ['application/jsonl', 'application/jsonl'],
    ['application/x-ndjson', 'application/x-ndjson'],
    ['text/html, application/x-ndjson;q=0.9, */*;q=0.1', 'application/x-ndjson'],
    ['APPLICATION/JSONL', 'application/jsonl'],
    ['application/x-ndjson; charset=utf-8', 'application/x-ndjson'],
    ['', 'application/jsonl'],
  ])('for accept: %s is %s', (accept, type) => {
    expect(accepting(accept)).toBe(type);
  });

  it.each(['text/html', 'application/json', 'application/jsonl;q=0', 'nonsense'])(
    'refuses accept: %s',
    (accept) => {
      expect(() => accepting(accept)).toThrow(ServiceError);
      try {
        accepting(accept);
      } catch (error) {
        expect(error).toMatchObject({
          status: 406,
          detail: [{ loc: ['header', 'accept'], type: 'not_acceptable' }],
        });
      }
    },
  );
});

describe('contentCoding', () => {
  it.each([
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'gzip'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip,deflate,zstd', 'zstd'],
    ['zstd', 'zstd'],
    ['zstd;q=0.5, gzip', 'gzip'],
    ['zstd;q=0, gzip;q=0.1', 'gzip'],
    ['br;q=1.0, gzip;q=0.8, *;q=0.1', 'gzip'],
    ['GZIP, ZSTD', 'zstd'],
    ['gzip;q=0', undefined],
    ['identity, gzip;q=0.5', undefined],
    ['identity', undefined],
    ['x-gzip, *', undefined],
    ['*', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('for accept-encoding: %s is %s', (encoding, expected) => {
    const headers = encoding === undefined ? {} : { 'Accept-Encoding': encoding };
    expect(contentCoding({ headers })).toBe(expected);
  });
});
