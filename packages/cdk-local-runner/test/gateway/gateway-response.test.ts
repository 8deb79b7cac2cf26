import { describe, expect, it } from 'vitest';
import { renderGatewayResponse } from '../../src/gateway/answer.ts';
import type { RefusalType } from '../../src/gateway/request.ts';
import type { GatewayResponseSpec } from '../../src/template/stack.ts';

const context = { requestId: 'r-1', mediaType: 'application/json', authorizer: { user: 'ada' } };
const asJson = (text: string) => ({ templates: { 'application/json': text } });

const render = (specs: Record<string, Partial<GatewayResponseSpec>>, type: RefusalType) => {
  const responses = new Map(
    Object.entries(specs).map(([name, spec]) => [name, { headers: {}, templates: {}, ...spec }]),
  );
  const { status, headers, body } = renderGatewayResponse(responses, type, context);
  return { status, headers: Object.fromEntries(headers), body: body.toString() };
};

describe('a gateway response', () => {
  it('is API Gateway’s own if the template sets none', () => {
    expect(render({}, 'THROTTLED')).toEqual({
      status: 429,
      headers: { 'content-type': 'application/json' },
      body: '{"message":"Too Many Requests"}',
    });
  });

  it('has the status, the headers and the body that the template sets', () => {
    const spec = {
      status: 404,
      headers: {
        'x-request-id': 'context.requestId',
        'x-user': 'context.authorizer.user',
        'retry-after': "'1'",
      },
      ...asJson(
        '{"id":"$context.requestId","msg":$context.error.messageString,"raw":"$context.error.message",' +
          '"who":"$context.authorizer.user$context.authorizer.nothing"}',
      ),
    };
    expect(render({ MISSING_AUTHENTICATION_TOKEN: spec }, 'MISSING_AUTHENTICATION_TOKEN')).toEqual({
      status: 404,
      headers: {
        'content-type': 'application/json',
        'x-request-id': 'r-1',
        'x-user': 'ada',
        'retry-after': '1',
      },
      body: '{"id":"r-1","msg":"Missing Authentication Token","raw":"Missing Authentication Token","who":"ada"}',
    });
  });

  it('is the default of its class, with its own status, if it is not set itself', () => {
    const specs = { DEFAULT_4XX: asJson('4xx'), DEFAULT_5XX: asJson('5xx') };
    expect(render(specs, 'REQUEST_TOO_LARGE')).toMatchObject({ status: 413, body: '4xx' });
    expect(render(specs, 'INTEGRATION_TIMEOUT')).toMatchObject({ status: 504, body: '5xx' });
  });

  it('is of the media type of the request’s body where the template has one', () => {
    const templates = { 'application/json': 'json', 'application/x-protobuf': 'protobuf' };
    const responses = new Map([['THROTTLED', { headers: {}, templates }]]);
    const typed = ['application/x-protobuf', 'application/json', 'text/plain', ''].map((mediaType) => {
      const { headers, body } = renderGatewayResponse(responses, 'THROTTLED', { ...context, mediaType });
      return [new Map(headers).get('content-type'), body.toString()];
    });
    const json = ['application/json', 'json'];
    expect(typed).toEqual([['application/x-protobuf', 'protobuf'], json, json, json]);
  });

  it('has the status of the default of its class if that sets one', () => {
    expect(render({ DEFAULT_4XX: { status: 400 } }, 'ACCESS_DENIED').status).toBe(400);
  });

  it.each([asJson('$context.identity.sourceIp'), { headers: { x: 'method.request.header.y' } }])(
    'names what is not supported locally in %j',
    (spec) => {
      expect(() => render({ UNAUTHORIZED: spec }, 'UNAUTHORIZED')).toThrow('not supported locally');
    },
  );
});
