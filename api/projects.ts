import * as z from 'zod/mini';
import { roles } from '../foundations/auth/index.ts';
import { actions } from '../foundations/redaction/rules.ts';
import { documented, field, record } from '../foundations/wire/schema.ts';
import { endpoint, keyEndpoint, oneAnswer } from './endpoint.ts';
import { flag, slice, timestamp } from './fields.ts';

const grant = () =>
  z.object({
    resource: field(z.string(), 'A project, `<entity>/*` for those of an entity, or `*` for all.'),
    role: field(
      z.enum(roles),
      'What it allows; `write` includes `read` and `report`, and `admin` all others.',
    ),
  });

const limit = () =>
  z.object({
    of: field(z.enum(['key', 'project']), 'Whose limit it is.'),
    project_id: field(z.nullable(z.string()), 'The project; null for the key.'),
    period: field(z.enum(['day', 'month']), 'How long it is for, in UTC.'),
    limit_usd: field(z.number(), 'The limit, in dollars.'),
    spent_usd: field(z.number(), 'What was spent, and is held for requests that are under way.'),
    left_usd: field(z.number(), 'What is left.'),
    resets_at: field(timestamp, 'When it resets.'),
  });

const redactionRule = () =>
  z
    .object({
      name: field(z.string(), 'What stands in the place of what it finds: `[name]`.'),
      builtin: field(z.optional(z.string()), 'The built-in format that it looks for, such as `email`.'),
      pattern: field(z.optional(z.string()), 'The regular expression that it looks for.'),
      paths: field(
        z.optional(z.array(z.string())),
        'Where it looks; everywhere without it. A rule with paths alone takes whatever is there.',
      ),
      action: field(z.enum(actions), 'What becomes of what it finds.'),
    })
    .register(documented, { name: 'RedactionRule' });

export const me = /* @__PURE__ */ keyEndpoint({
  path: '/me',
  limits: 'show',
  redaction: 'show',
  tag: 'projects',
  name: 'Me',
  summary: 'Who asks',
  description:
    'Any valid key may ask, and whoever has signed in, with grants or without any. The answer holds no secret, and no cache keeps it.',
  answer: () =>
    z.object({
      kind: field(
        z.enum(['key', 'person']),
        '`person` for somebody who has signed in; `key` for a key, and for a role that signs.',
      ),
      user: field(
        z.string(),
        "The key's user, or the person's e-mail address if the issuer has verified it, else the subject. What is written has this name.",
      ),
      name: field(z.optional(z.string()), "The person's name, if the token has one."),
      key_id: field(
        z.string(),
        "The key's id, which is no secret. A role and a person have one in the same form, always the same.",
      ),
      expires_at: field(z.nullable(timestamp), 'When the key or the token expires; null for never.'),
      grants: field(
        z.array(grant()),
        'What the caller may do. Nothing, for a person whom nobody has made a member yet.',
      ),
      limits: field(
        z.optional(z.array(limit())),
        'What is left of the spending limits of the key, and of projects that its grants name. Only with the setting `limits`.',
      ),
      redaction: field(
        z.optional(z.array(redactionRule())),
        'What is taken out of all that is stored, the same for all projects: the setting `redact`. Only with it, and for callers who may read some project.',
      ),
      service: field(
        z.object({
          name: field(z.string(), "The service's name, which other names begin with."),
          version: field(z.string(), "The service's version."),
        }),
        'The service that answers.',
      ),
    }),
  examples: {
    local: {
      summary: 'The key of the local service',
      body: undefined,
      answer: {
        kind: 'key',
        user: 'local',
        key_id: '0123456789abcdef',
        expires_at: null,
        grants: [
          { resource: '*', role: 'read' },
          { resource: '*', role: 'report' },
          { resource: '*', role: 'write' },
          { resource: '*', role: 'inference' },
          { resource: '*', role: 'admin' },
        ],
        service: { name: 'svc', version: '0.1.0' },
      },
    },
  },
});

export const projectsQuery = /* @__PURE__ */ endpoint({
  path: '/projects/query',
  shape: oneAnswer,
  stores: { bookkeeping: 'list' },
  tag: 'projects',
  name: 'ProjectsQuery',
  summary: 'List projects',
  description:
    'The projects that calls, objects or feedback have ever been written to, and that the key may read, by name. A key that may read nothing gets a 403.',
  request: () =>
    record({
      ...slice,
      include_dropped: flag(
        'Whether to add, as `dropped`, what was last dropped of exports to the projects.',
      ),
    }),
  // No project stands in the body: the grants of the key choose them.
  projects: () => [],
  answer: () =>
    z.object({
      projects: field(
        z.array(
          z.object({
            project_id: field(z.string(), 'The project, `<entity>/<project>`.'),
            first_reported_at: field(timestamp, 'When it was first written to.'),
          }),
        ),
        'By name.',
      ),
      dropped: field(
        z.optional(
          z.array(
            z.object({
              project_id: field(z.string(), 'The project, which may never have been written to.'),
              at: field(timestamp, 'When the export came.'),
              path: field(z.string(), 'Where it was sent.'),
              count: field(
                z.nullable(z.number()),
                'How many spans or log records were not kept; null if it was refused as a whole.',
              ),
              reason: field(z.string(), 'Why, and what to do.'),
              program: field(z.nullable(z.string()), 'Its `user-agent`.'),
            }),
          ),
        ),
        'The last OpenTelemetry export of each project that was rejected in whole or in part, newest first, at most 100. A container notes each reason once in ten minutes. Requests without a valid key are not known.',
      ),
    }),
  examples: {
    first: {
      summary: 'The first project',
      body: { limit: 1 },
      answer: {
        projects: [{ project_id: 'acme/shop', first_reported_at: '2026-10-01T09:30:00.123000Z' }],
      },
    },
  },
});

/** The endpoints of this file. Their examples run in this order. */
export const projectRoutes = [me, projectsQuery] as const;
