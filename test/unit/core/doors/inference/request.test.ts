import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  answerHeaders,
  type InferenceBody,
  requestHeaders,
  upstreamBody,
} from '../../../../../core/doors/inference/request.ts';
import { parseJson } from '../../../../../foundations/wire/index.ts';

describe('the upstream’s body', () => {
  it('has everything but the service’s own fields, and the upstream’s name of the model', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (fields, model) => {
        const sent = { ...fields, model: 'asked', timeout: 1, extra_headers: {}, api_version: 'v' };
        const { timeout: _t, extra_headers: _h, api_version: _v, ...kept } = JSON.parse(JSON.stringify(sent));
        expect(JSON.parse(upstreamBody(sent, model))).toEqual({ ...kept, model });
      }),
    );
  });

  it('has only the model that it was routed by, and every digit of a number', () => {
    const body = parseJson('{"model":"a","x":12345678901234567890,"y":1.0,"model":"b"}') as InferenceBody;
    expect(upstreamBody(body, 'c')).toBe('{"model":"c","x":12345678901234567890,"y":1.0}');
  });
});

const never = [
  'authorization',
  'host',
  'content-length',
  'connection',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'x-amz-security-token',
  'x-forwarded-host',
  'forwarded',
];

describe('the headers of a request', () => {
  it('have no hop-by-hop header, credential or length of the client’s, in any case', () => {
    const inCase = fc.mixedCase(fc.constantFrom(...never));
    fc.assert(
      fc.property(fc.array(inCase), (names) => {
        const extra = Object.fromEntries(names.map((name) => [name, 'x']));
        expect(requestHeaders(extra, extra)).toEqual(requestHeaders({}));
      }),
    );
  });

  it('include the extra ones, which override the client’s own', () => {
    const headers = requestHeaders(
      { 'openai-beta': 'a', cookie: 'c' },
      { 'OpenAI-Beta': 'b', 'X-Team': 'shop' },
    );
    expect(headers).toMatchObject({ 'openai-beta': 'b', 'x-team': 'shop' });
    expect(headers).not.toHaveProperty('cookie');
  });

  it('set the content type and ask for an uncompressed answer', () => {
    const extra = { 'Content-Type': 'text/plain', 'Accept-Encoding': 'gzip', 'content-encoding': 'gzip' };
    expect(requestHeaders({}, extra)).toMatchObject({
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    });
    expect(requestHeaders({}, extra)).not.toHaveProperty('content-encoding');
  });
});

describe('the headers of an answer', () => {
  it('are the upstream’s without hop-by-hop headers, cookies and those about its host', () => {
    const theirs = {
      'content-type': 'text/event-stream',
      'retry-after': '3',
      'x-ratelimit-limit-tokens': '10',
      'set-cookie': ['a=b'],
      connection: 'keep-alive, X-Hop',
      'x-hop': '1',
      'content-length': '3',
      server: 'nginx',
      'x-amzn-requestid': 'theirs',
      'x-request-id': 'req_1',
      bad: 'ä\u0000',
    };
    expect(answerHeaders(theirs, 'ours')).toEqual({
      'content-type': 'text/event-stream',
      'retry-after': '3',
      'x-ratelimit-limit-tokens': '10',
      'x-upstream-request-id': 'req_1',
      'x-request-id': 'ours',
    });
  });
});
