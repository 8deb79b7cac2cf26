import * as z from 'zod/mini';
import * as requests from '../../api/requests.ts';
import type { WeavePath } from '../../api/weave-routes.ts';
import { field } from '../answers/parts.ts';
import type { Operations } from '../operation.ts';

const serverInfo = z.object({
  min_required_weave_python_version: field(z.string(), 'The oldest Python SDK that works.'),
  trace_server_version: field(z.string(), "The service's version."),
});

const graphqlAnswer = z.object({
  data: field(z.unknown(), 'What was asked for.'),
  errors: field(z.optional(z.array(z.unknown())), 'Why there is no answer.'),
});

/** What the document says of the endpoints that Weave's dialect alone has. */
export const weaveOperations = (): Pick<Operations, WeavePath> => ({
  '/server_info': [
    {
      name: 'ServerInfo',
      tag: 'weave',
      summary: 'Which SDKs the service works with',
      description: 'It takes no credentials.',
      answer: serverInfo,
      examples: {
        now: {
          summary: 'As it is now',
          body: undefined,
          answer: { min_required_weave_python_version: '0.0.0', trace_server_version: '0.1.0' },
        },
      },
    },
  ],
  '/graphql': [
    {
      name: 'Graphql',
      tag: 'weave',
      summary: "Answer the SDKs' GraphQL queries",
      description:
        'Knows `viewer`, `project` and `upsertModel` alone, with the fields that the SDKs ask for. Nothing is stored: a project is there if the key may use it.',
      request: requests.graphql,
      answer: graphqlAnswer,
      examples: {
        viewer: {
          summary: 'Whose key this is',
          body: { query: 'query DefaultEntity { viewer { username defaultEntity { name } } }' },
          answer: { data: { viewer: { username: 'local', defaultEntity: { name: 'local' } } } },
        },
      },
    },
  ],
});
