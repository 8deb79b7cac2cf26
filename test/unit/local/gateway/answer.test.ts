import { describe, expect, it } from 'vitest';
import { parseAnswer, parseMetadata } from '../../../../local/gateway/answer.ts';

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
