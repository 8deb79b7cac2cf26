import * as z from 'zod/mini';
import { field } from '../foundations/wire/schema.ts';
import { document, fixed, type OpenRoute, openEndpoint, page } from './endpoint.ts';

export const health = /* @__PURE__ */ openEndpoint({
  path: '/health',
  head: true,
  signIn: true,
  shape: fixed,
  tag: 'service',
  name: 'Health',
  summary: 'Whether the service is up',
  description: 'Needs no credentials. It reveals nothing about stored data, and does not check the stores.',
  answer: () =>
    z.object({
      status: field(z.literal('up'), 'Always `up`: any other state is an error or no answer.'),
      version: field(z.string(), "The service's version."),
    }),
  examples: { up: { summary: 'It is up', body: undefined, answer: { status: 'up', version: '0.1.0' } } },
});

/** Where people sign in. The function of `/health` answers it. */
export const signIn = /* @__PURE__ */ openEndpoint({
  path: '/sign-in',
  handler: 'health',
  signIn: true,
  onlyWith: 'signIn',
  shape: fixed,
  tag: 'service',
  name: 'SignIn',
  summary: 'Where people sign in',
  description:
    'What a client needs to sign somebody in by OpenID Connect: authorization code with PKCE, without a secret. Needs no credentials. A 404 without the setting `signIn`, or while the issuer does not answer.',
  errors: [404],
  answer: () =>
    z.object({
      issuer: field(z.string(), 'The issuer, as its tokens have it.'),
      client_id: field(z.string(), "The service's client at the issuer."),
      scopes: field(z.array(z.string()), 'What to ask for.'),
      token: field(
        z.enum(['access', 'id']),
        'Which token to send to the service as Bearer: `access`, the access token, or `id`, the ID token.',
      ),
      authorization_endpoint: field(z.string(), 'Where a browser goes first.'),
      token_endpoint: field(z.string(), 'Where codes and refresh tokens are exchanged.'),
      end_session_endpoint: field(
        z.nullable(z.string()),
        'Where a browser signs out, perhaps with a query already; null if the issuer has no such page.',
      ),
      loopback_redirect_uri: field(
        z.nullable(z.string()),
        'Where the issuer leads commands on their own machine; null for `http://127.0.0.1:<any port>/callback`.',
      ),
    }),
  examples: {
    issuer: {
      summary: 'Sign-in at an issuer',
      body: undefined,
      answer: {
        issuer: 'https://login.example.com/realms/main',
        client_id: 'pennytrace',
        scopes: ['openid', 'email', 'profile'],
        token: 'access',
        authorization_endpoint: 'https://login.example.com/realms/main/authorize',
        token_endpoint: 'https://login.example.com/realms/main/token',
        end_session_endpoint: 'https://login.example.com/realms/main/logout',
        loopback_redirect_uri: null,
      },
    },
  },
});

/** Where MCP clients sign people in (RFC 9728). The function of `/health` answers it, too. */
export const resourceMetadata = /* @__PURE__ */ openEndpoint({
  path: '/.well-known/oauth-protected-resource/mcp',
  handler: 'health',
  signIn: true,
  onlyWith: 'signIn',
  shape: fixed,
  tag: 'agents',
  name: 'ResourceMetadata',
  summary: 'Where MCP clients sign people in',
  description:
    'The metadata of `/mcp` as a protected resource (RFC 9728). A 401 of `/mcp` leads here by `resource_metadata`. Needs no credentials. A 404 without the setting `signIn`, where the service takes ID tokens, which no MCP client sends, or while the issuer does not answer.',
  errors: [404],
  answer: () =>
    z.object({
      resource: field(z.string(), 'The URL of `/mcp`. Tokens with this audience are accepted.'),
      authorization_servers: field(z.array(z.string()), 'The issuer, as its tokens have it.'),
      scopes_supported: field(z.array(z.string()), 'What to ask the issuer for.'),
      bearer_methods_supported: field(z.array(z.literal('header')), 'How a token is sent.'),
    }),
  examples: {
    issuer: {
      summary: 'Sign-in at an issuer',
      body: undefined,
      answer: {
        resource: 'https://tracing.example.com/mcp',
        authorization_servers: ['https://login.example.com/realms/main'],
        scopes_supported: ['openid', 'email', 'profile'],
        bearer_methods_supported: ['header'],
      },
    },
  },
});

const openapi = /* @__PURE__ */ openEndpoint({
  path: '/openapi.json',
  handler: 'openapi',
  shape: document,
  tag: 'service',
  name: 'OpenApi',
  summary: 'This document',
  description: 'Needs no credentials. It changes only with a deployment.',
  answer: () => z.looseObject({ openapi: field(z.string(), 'The version of OpenAPI.') }),
  examples: { document: { summary: 'The document', body: undefined, answer: { openapi: '3.1.1' } } },
});

/** A route of the page, which one function serves. It is no part of the documented API. */
export const ofThePage = <const Path extends `/${string}`>(path: Path) => ({
  path,
  method: 'GET' as const,
  handler: 'ui' as const,
  scheme: 'none' as const,
  stores: {},
  page: true as const,
  signIn: true as const,
  tag: 'service' as const,
  ...page,
  answer: () => z.unknown(),
  operations: [],
});

const pageRoutes = [
  ofThePage('/'),
  ofThePage('/ui'),
  ofThePage('/ui/{proxy+}'),
] as const satisfies readonly OpenRoute[];

/** The endpoints of this file. */
export const serviceRoutes = [health, openapi, signIn, resourceMetadata, ...pageRoutes] as const;
