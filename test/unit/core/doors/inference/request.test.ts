import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { passedHeaders } from '../../../../../api/passed-headers.ts';
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

describe('the headers of a request', () => {
  it('have no extra one but those of the list, in any case', () => {
    const name = fc.oneof(
      fc.mixedCase(fc.constantFrom(...passedHeaders)),
      fc.mixedCase(
        fc.constantFrom(
          'authorization',
          'host',
          'content-length',
          'connection',
          'te',
          'transfer-encoding',
          'expect',
          'cookie',
          'api-key',
          'x-api-key',
          'x-goog-api-key',
          'openai-organization',
          'openai-project',
          'x-amz-security-token',
          'x-amzn-bedrock-guardrailidentifier',
          'x-amzn-bedrock-trace',
          'accept-encoding',
          'content-type',
          'content-encoding',
          'forwarded',
          'x-forwarded-host',
        ),
      ),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.dictionary(name, fc.constant('theirs')), (extra) => {
        const theirs = Object.entries(requestHeaders({}, extra)).filter(([, value]) => value === 'theirs');
        const passed = Object.keys(extra).map((name) => name.toLowerCase());
        expect(new Set(theirs.map(([name]) => name))).toEqual(
          new Set(passed.filter((name) => passedHeaders.includes(name))),
        );
      }),
    );
  });

  it('include the extra ones, which override the client’s own', () => {
    const headers = requestHeaders(
      { 'openai-beta': 'a', cookie: 'c' },
      { 'OpenAI-Beta': 'b', 'X-Title': 'shop' },
    );
    expect(headers).toMatchObject({ 'openai-beta': 'b', 'x-title': 'shop' });
    expect(headers).not.toHaveProperty('cookie');
  });

  it('set the content type and ask for an uncompressed answer', () => {
    expect(requestHeaders({}, { 'content-type': 'text/plain' })).toMatchObject({
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    });
  });
});

describe('the headers of an answer', () => {
  it('are those of the upstream that say something of the answer, and no other', () => {
    const passed = {
      'content-type': 'text/event-stream',
      'content-encoding': 'gzip',
      'retry-after': '3',
      'retry-after-ms': '250',
      'x-should-retry': 'true',
      'x-ratelimit-limit-tokens': '10',
      'anthropic-ratelimit-requests-remaining': '4',
      'openai-processing-ms': '12',
      'request-id': 'req_2',
    };
    const dropped = {
      'set-cookie': ['a=b'],
      connection: 'keep-alive, X-Hop',
      'x-hop': '1',
      'content-length': '3',
      'clear-site-data': '"*"',
      refresh: '0;url=https://evil.example',
      link: '</x>; rel=preload',
      location: '/x',
      'service-worker-allowed': '/',
      'content-security-policy': 'default-src *',
      'access-control-allow-origin': '*',
      'www-authenticate': 'Basic',
      'x-content-type-options': 'no',
      server: 'nginx',
      'x-amzn-requestid': 'theirs',
      'openai-organization': 'acme',
      'cf-ray': '1',
      'x-ratelimits': '1',
      'openai-processing-msx': '1',
      'x-upstream-request-id': 'forged',
      'x-ratelimit-bad': 'ä\u0000',
    };
    expect(answerHeaders({ ...passed, ...dropped, 'x-request-id': 'req_1' })).toEqual({
      ...passed,
      'x-upstream-request-id': 'req_1',
    });
  });
});
