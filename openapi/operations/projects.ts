import * as z from 'zod/mini';
import * as requests from '../../api/requests.ts';
import type { WireNames } from '../../core/foundations/wire/index.ts';
import { field, timestamp } from '../answers/fields.ts';
import type { Operations } from '../operation.ts';

const grant = z.object({
  resource: field(z.string(), 'A project, `<entity>/*` for those of an entity, or `*` for all.'),
  role: field(z.enum(['read', 'write', 'inference']), 'What it allows; `write` includes `read`.'),
});

const me = z.object({
  user: field(z.string(), "The key's user. What the key writes has this name."),
  key_id: field(z.string(), "The key's id, which is no secret."),
  expires_at: field(z.nullable(timestamp), 'When the key expires; null for never.'),
  grants: field(z.array(grant), 'What the key may do.'),
  service: field(
    z.object({
      name: field(z.string(), "The service's name, which other names begin with."),
      version: field(z.string(), "The service's version."),
    }),
    'The service that answers.',
  ),
});

const project = z.object({
  project_id: field(z.string(), 'The project, `<entity>/<project>`.'),
  first_reported_at: field(timestamp, 'When it was first written to.'),
});

/** What the document says of the key of a request, and of the projects that it may read. */
export const projectOperations = (names: WireNames): Pick<Operations, '/me' | '/projects/query'> => ({
  '/me': [
    {
      name: 'Me',
      tag: 'projects',
      summary: 'Whose key this is',
      description: 'Any valid key may ask. The answer holds no secret, and no cache keeps it.',
      answer: me,
      examples: {
        local: {
          summary: 'The key of the local service',
          body: undefined,
          answer: {
            user: 'local',
            key_id: '0123456789abcdef',
            expires_at: null,
            grants: [
              { resource: '*', role: 'read' },
              { resource: '*', role: 'write' },
              { resource: '*', role: 'inference' },
            ],
            service: { name: names.service, version: '0.1.0' },
          },
        },
      },
    },
  ],
  '/projects/query': [
    {
      name: 'ProjectsQuery',
      tag: 'projects',
      summary: 'List projects',
      description:
        'The projects that calls, objects or feedback have ever been written to, and that the key may read, by name. A key that may read nothing gets a 403.',
      request: requests.projectsQuery,
      answer: z.object({ projects: field(z.array(project), 'By name.') }),
      examples: {
        first: {
          summary: 'The first project',
          body: { limit: 1 },
          answer: {
            projects: [{ project_id: 'acme/shop', first_reported_at: '2026-10-01T09:30:00.123000Z' }],
          },
        },
      },
    },
  ],
});
