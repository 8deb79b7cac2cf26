import { describe, expect, it } from 'vitest';
import { decodeStatus } from '../../support/otel/otel.ts';
import { everySetting, signInSettings } from '../../support/stack/every-setting.ts';
import { findResources, synthesize } from '../../support/stack/template.ts';

interface GatewayResponse {
  readonly ResponseType: string;
  readonly StatusCode?: string;
  readonly ResponseParameters: Readonly<Record<string, string>>;
  readonly ResponseTemplates: Readonly<Record<string, string>>;
}
const listResponses = (settings = {}) =>
  new Map(
    [...findResources(synthesize(settings), 'AWS::ApiGateway::GatewayResponse').values()].map(
      ({ Properties }) => {
        const response = Properties as unknown as GatewayResponse;
        return [response.ResponseType, response];
      },
    ),
  );
const responses = listResponses();
const parseBody = (type: string) =>
  JSON.parse(responses.get(type)?.ResponseTemplates['application/json'] ?? '');

describe.each([...responses.keys()])('the answer %s of API Gateway’s own', (type) => {
  it('has the service’s error shape, OpenAI’s beside it, and a Status for who sends protobuf', () => {
    const [{ msg = '', type: code = '' } = {}] = parseBody(type).detail;
    expect(parseBody(type)).toEqual({
      detail: [
        {
          loc: expect.any(Array),
          msg: expect.stringMatching(/\w/),
          type: expect.stringMatching(/^[a-z_]+$/),
        },
      ],
      error: { message: msg, type: expect.stringMatching(/^[a-z_]+_error$/), code },
    });
    expect(parseBody(type).detail[0].loc.every((part: unknown) => typeof part === 'string')).toBe(true);
    const { 'application/x-protobuf': status = '', ...others } = responses.get(type)?.ResponseTemplates ?? {};
    expect(Object.keys(others)).toEqual(['application/json']);
    // As UTF-8 it has the bytes that it was made of.
    expect(decodeStatus(Buffer.from(status))).toEqual({
      code: expect.any(Number),
      message: expect.stringMatching(/^[ -~]{10,}$/),
    });
  });

  it('ends its line', () => {
    expect(responses.get(type)?.ResponseTemplates['application/json']).toMatch(/\}\n$/);
  });

  it('carries the request’s id, and is taken for what it says that it is', () => {
    expect(responses.get(type)?.ResponseParameters).toMatchObject({
      'gatewayresponse.header.x-request-id': 'context.requestId',
      'gatewayresponse.header.x-content-type-options': "'nosniff'",
    });
  });

  it('has nothing of API Gateway’s own text, which names functions and repeats headers', () => {
    expect(JSON.stringify(responses.get(type)?.ResponseTemplates)).not.toContain('$');
  });
});

describe('the status of API Gateway’s own answers', () => {
  it.each(['DEFAULT_4XX', 'DEFAULT_5XX'])('%s is the status that it stands for', (type) => {
    expect(responses.has(type)).toBe(true);
    expect(responses.get(type)).not.toHaveProperty('StatusCode');
  });
});

describe('what API Gateway’s own answers say', () => {
  const challenge = 'gatewayresponse.header.WWW-Authenticate';

  it('an unauthorized caller learns both schemes, by the service’s name', () => {
    const header = responses.get('UNAUTHORIZED')?.ResponseParameters[challenge];
    expect(header).toBe(`'Basic realm="svc", charset="UTF-8", Bearer realm="svc"'`);
  });

  it('an unauthorized caller learns of tokens where people sign in, and of keys alone elsewhere', () => {
    const texts = (type: ReturnType<typeof listResponses>) =>
      Object.values(type.get('UNAUTHORIZED')?.ResponseTemplates ?? {});
    const [json = '', protobuf = ''] = texts(listResponses({ signIn: signInSettings }));
    expect(JSON.parse(json).detail[0].msg).toMatch(/^a valid key is required.*token.*GET \/sign-in/);
    expect(JSON.parse(json).error.message).toBe(JSON.parse(json).detail[0].msg);
    expect(decodeStatus(Buffer.from(protobuf)).message).toMatch(/^a valid key or token is required/);
    for (const text of texts(responses)) expect(text).not.toContain('token');
  });

  it('with sign-in, an unauthorized caller learns first where MCP clients sign people in', () => {
    const client = { clientId: 'pennytrace', admins: ['ada@example.com'] };
    const signIn = { ...client, issuer: 'https://login.example.com' };
    const { domain } = everySetting;
    const challengeWith = (settings: object) =>
      listResponses({ domain, ...settings }).get('UNAUTHORIZED')?.ResponseParameters[challenge];
    const metadata = 'https://tracing.example.com/.well-known/oauth-protected-resource/mcp';
    expect(challengeWith({ signIn })).toBe(
      `'Bearer realm="svc", resource_metadata="${metadata}", Basic realm="svc", charset="UTF-8"'`,
    );
    // MCP clients send no ID tokens.
    const others = [{ ...signIn, token: 'id' }, everySetting.signIn];
    for (const other of others) expect(challengeWith({ signIn: other })).not.toContain('resource_metadata');
  });

  it.each([
    ['UNAUTHORIZED', 'authentication_error'],
    ['ACCESS_DENIED', 'permission_error'],
    ['MISSING_AUTHENTICATION_TOKEN', 'not_found_error'],
    ['REQUEST_TOO_LARGE', 'invalid_request_error'],
    ['THROTTLED', 'rate_limit_error'],
    ['AUTHORIZER_FAILURE', 'server_error'],
    ['DEFAULT_4XX', 'invalid_request_error'],
    ['DEFAULT_5XX', 'server_error'],
  ])('%s is a %s for OpenAI’s clients', (type, kind) => {
    expect(parseBody(type).error.type).toBe(kind);
  });

  it('no other answer requests a key', () => {
    const asking = [...responses.values()].filter((response) => challenge in response.ResponseParameters);
    expect(asking.map(({ ResponseType }) => ResponseType)).toEqual(['UNAUTHORIZED']);
  });

  it('an unknown route is a problem of the path, whose slashes are often wrong', () => {
    expect(parseBody('MISSING_AUTHENTICATION_TOKEN').detail[0]).toMatchObject({
      loc: ['path'],
      msg: expect.stringContaining('no path has a doubled slash'),
      type: 'not_found',
    });
  });

  it('a request that is too large gets the limit and a remedy', () => {
    expect(parseBody('REQUEST_TOO_LARGE').detail[0].msg).toMatch(/6 MB.*smaller batches/);
  });

  it.each(['THROTTLED', 'INTEGRATION_FAILURE', 'AUTHORIZER_FAILURE', 'AUTHORIZER_CONFIGURATION_ERROR'])(
    '%s says when to retry',
    (type) => {
      expect(responses.get(type)?.ResponseParameters['gatewayresponse.header.Retry-After']).toBe("'1'");
    },
  );
});
