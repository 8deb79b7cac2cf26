import * as z from 'zod/mini';
import { fixed, keyEndpoint, type OpenRoute, openEndpoint } from '../../api/endpoint.ts';
import { ofThePage } from '../../api/service.ts';
import { field, freeObject, nullish } from '../../foundations/wire/schema.ts';

export const serverInfo = /* @__PURE__ */ openEndpoint({
  path: '/server_info',
  tolerant: true,
  shape: fixed,
  tag: 'weave',
  name: 'ServerInfo',
  summary: 'Which SDKs the service works with',
  description: 'It takes no credentials.',
  answer: () =>
    z.object({
      min_required_weave_python_version: field(z.string(), 'The oldest Python SDK that works.'),
      trace_server_version: field(z.string(), "The service's version."),
    }),
  examples: {
    now: {
      summary: 'As it is now',
      body: undefined,
      answer: { min_required_weave_python_version: '0.0.0', trace_server_version: '0.1.0' },
    },
  },
});

export const graphql = /* @__PURE__ */ keyEndpoint({
  path: '/graphql',
  tolerant: true,
  method: 'POST',
  tag: 'weave',
  name: 'Graphql',
  summary: "Answer the SDKs' GraphQL queries",
  description:
    'Knows `viewer`, `project` and `upsertModel` alone, with the fields that the SDKs ask for. Nothing is stored: a project is there if the key may use it.',
  request: () =>
    z.strictObject({
      query: field(z.string(), 'The text of the query.'),
      variables: field(nullish(freeObject), 'The variables of the query.'),
      operationName: field(nullish(z.string()), 'The operation of the query that is meant.'),
    }),
  answer: () =>
    z.object({
      data: field(z.unknown(), 'What was asked for.'),
      errors: field(z.optional(z.array(z.unknown())), 'Why there is no answer.'),
    }),
  examples: {
    viewer: {
      summary: 'Whose key this is',
      body: { query: 'query DefaultEntity { viewer { username defaultEntity { name } } }' },
      answer: { data: { viewer: { username: 'local', defaultEntity: { name: 'local' } } } },
    },
  },
});

/** The links that the SDKs print: of a call, and of a project with what is in it. They lead to the page. */
export const sdkLinks = [
  ofThePage('/{entity}/{project}/weave'),
  ofThePage('/{entity}/{project}/weave/{proxy+}'),
  ofThePage('/{entity}/{project}/r/call/{id}'),
] as const satisfies readonly OpenRoute[];
