import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  answerHeaders,
  membersOf,
  requestHeaders,
  upstreamBody,
} from '../../../../../core/doors/inference/request.ts';
import { anyCharacter } from '../../../../support/arbitraries/character.ts';

const spaces = fc.constantFrom('', ' ', '\n\t', '  ');
const member = fc.tuple(fc.string({ unit: anyCharacter }), fc.jsonValue(), spaces);

describe('the members of an object', () => {
  it('are those that JSON.parse finds, with any spaces and repeated names', () => {
    fc.assert(
      fc.property(fc.array(member), spaces, (members, around) => {
        const parts = members.map(
          ([name, value, s]) => `${s}${JSON.stringify(name)}${s}:${s}${JSON.stringify(value, null, s)}${s}`,
        );
        const text = `${around}{${parts.join(',') || around}}${around}`;
        const read = [...membersOf(text)].map(([name, value]) => [name, JSON.parse(value)]);
        expect(new Map(read as [string, unknown][])).toEqual(new Map(Object.entries(JSON.parse(text))));
      }),
    );
  });

  it('keep their values letter by letter', () => {
    const text = '{"a" : 1.0e+2 , "b":[ "}\\"]" ,{}] , "c":"\\u0041\\\\"}';
    expect([...membersOf(text)]).toEqual([
      ['a', '1.0e+2'],
      ['b', '[ "}\\"]" ,{}]'],
      ['c', '"\\u0041\\\\"'],
    ]);
  });

  it('are found in linear time', () => {
    const text = `{"a":"${'\\\\'.repeat(500_000)}","b":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    expect([...membersOf(text).keys()]).toEqual(['a', 'b']);
  });
});

describe('the upstream’s body', () => {
  it('has everything but the service’s own fields, and the upstream’s name of the model', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (fields, model) => {
        const sent = { ...fields, model: 'asked', timeout: 1, extra_headers: {}, api_version: 'v' };
        const { timeout: _t, extra_headers: _h, api_version: _v, ...kept } = JSON.parse(JSON.stringify(sent));
        expect(JSON.parse(upstreamBody(JSON.stringify(sent), model))).toEqual({ ...kept, model });
      }),
    );
  });

  it('has only the model that it was routed by, however many were sent', () => {
    expect(upstreamBody('{"model":"a","x":1,"model":"b"}', 'c')).toBe('{"model":"c","x":1}');
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
