import * as z from 'zod/mini';
import { field } from '../foundations/wire/schema.ts';
import { document, fixed, type OpenRoute, openEndpoint, page } from './endpoint.ts';

export const health = /* @__PURE__ */ openEndpoint({
  path: '/health',
  head: true,
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
export const serviceRoutes = [health, openapi, ...pageRoutes] as const;
