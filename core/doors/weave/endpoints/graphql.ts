import * as z from 'zod/mini';
import { keyEndpoint } from '../../../../api/endpoint.ts';
import { field, freeObject, nullish } from '../../../../foundations/wire/schema.ts';

export const graphql = /* @__PURE__ */ keyEndpoint({
  path: '/graphql',
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
  examples: {},
});
