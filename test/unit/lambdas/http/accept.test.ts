import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../core/wire/index.ts';
import { acceptsGzip, mediaType } from '../../../../lambdas/http/accept.ts';

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

describe('acceptsGzip', () => {
  it.each([
    ['gzip', true],
    ['gzip, deflate, br', true],
    ['br;q=1.0, gzip;q=0.8, *;q=0.1', true],
    ['GZIP', true],
    ['gzip;q=0', false],
    ['identity', false],
    ['*', false],
    ['', false],
    [undefined, false],
  ])('for accept-encoding: %s is %s', (encoding, expected) => {
    expect(acceptsGzip({ headers: encoding === undefined ? {} : { 'Accept-Encoding': encoding } })).toBe(
      expected,
    );
  });
});
