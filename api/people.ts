import * as z from 'zod/mini';
import {
  actorKinds,
  entityScope,
  type Grant,
  grantRule,
  maxLimitUsd,
  parseGrant,
  type Scope,
} from '../foundations/auth/grants.ts';
import { roles } from '../foundations/auth/index.ts';
import { isKeyId, isUser } from '../foundations/auth/keys.ts';
import { type Member, memberRule, parseMember } from '../foundations/auth/members.ts';
import type { ProjectId } from '../foundations/wire/index.ts';
import {
  documented,
  field,
  integerWith,
  listSchema,
  nullish,
  numeric,
  problem,
  projectId,
  record,
  rule,
  withDefault,
} from '../foundations/wire/schema.ts';
import { endpoint, type NamedProject, oneAnswer } from './endpoint.ts';
import { micros, timestamp } from './fields.ts';

/*
 * Who may do what, and who did what. One function serves all of it.
 */

const common = {
  role: 'admin',
  handler: 'people',
  shape: oneAnswer,
  stores: { keys: 'manage', audit: 'serve' },
  limits: 'know',
  signIn: true,
  tag: 'people',
} as const;

const part = '[A-Za-z0-9_.-]{1,128}';

const entity = z
  .string()
  .check(
    z.refine(
      (text) => entityScope(text) !== undefined,
      rule('should be an entity, the part before the slash: 1 to 128 letters, digits, "_", "-" or "."'),
    ),
  )
  .register(documented, { keywords: { pattern: `^(?!\\.{1,2}$)${part}$` } });

interface Place {
  readonly project_id?: ProjectId | null | undefined;
  readonly entity?: string | null | undefined;
}

/** The project or the entity of a request, of which it names one. */
const place = {
  project_id: field(nullish(projectId), 'A project, `<entity>/<project>`, in place of an entity.'),
  entity: field(nullish(entity), 'An entity with all its projects, in place of a project.'),
};

const toScope = ({ project_id: project, entity: name }: Place): Scope =>
  project ?? entityScope(name ?? '') ?? '*';

const onePlace = z.check<Place>(({ value, issues }) => {
  if (Boolean(value.project_id) === Boolean(value.entity))
    issues.push(problem('name one of project_id and entity', value, value.entity ? 'entity' : 'project_id'));
});

const projectOf = ({ scope }: { readonly scope: Scope }): readonly NamedProject[] =>
  scope === '*' || scope.endsWith('/*') ? [] : [{ projectId: scope as ProjectId, loc: ['project_id'] }];

const member = z.pipe(
  z.string().check(z.refine((text) => parseMember(text) !== undefined, rule(memberRule))),
  z.transform((text) => parseMember(text) as Member),
);

const memberField = field(member, 'An e-mail address in any case, or `group:<name>`.');

const role = z.enum(roles);

const memberships = () =>
  z.object({
    member: field(z.string(), 'An e-mail address in lower case, or `group:<name>`.'),
    grants: field(z.array(role), 'The roles that it has on what was asked for.'),
    inherited: field(
      z.array(z.object({ resource: z.string(), role })),
      'What it has there by a wider grant, of the entity or of everything.',
    ),
  });

export const membersQuery = /* @__PURE__ */ endpoint({
  ...common,
  path: '/members/query',
  name: 'MembersQuery',
  summary: 'List members',
  description:
    'The people and groups that may do something in a project, or in an entity, by name. People count where the service has sign-in. Those that the setting `signIn` names as admins are not listed.',
  request: () => record(place, {}, (fields) => ({ scope: toScope(fields) }), onePlace),
  projects: projectOf,
  answer: () => z.object({ members: field(z.array(memberships()), 'By name.') }),
  examples: {
    none: {
      summary: 'A project that nobody is a member of yet',
      body: { project_id: 'acme/shop' },
      answer: { members: [] },
    },
  },
});

const membership = () =>
  z.object({
    member: field(z.string(), 'The member, as it is stored.'),
    grants: field(z.array(role), 'The roles that it has there now.'),
  });

export const membersSet = /* @__PURE__ */ endpoint({
  ...common,
  path: '/members/set',
  name: 'MembersSet',
  summary: 'Set what a member may do',
  description:
    'Gives a person or a group roles on a project or an entity, in place of those that it has there. It counts within `authorizerCacheSeconds`. The same again changes nothing.',
  request: () =>
    record(
      {
        ...place,
        member: memberField,
        grants: field(listSchema(role, roles.length, { least: 1 }), 'Roles.'),
      },
      {},
      (fields) => ({ scope: toScope(fields) }),
      onePlace,
    ),
  projects: projectOf,
  answer: membership,
  examples: {
    person: {
      summary: 'Ada may write to the shop',
      body: { project_id: 'acme/shop', member: 'Ada@example.com', grants: ['write'] },
      answer: { member: 'ada@example.com', grants: ['write'] },
    },
  },
});

export const membersRemove = /* @__PURE__ */ endpoint({
  ...common,
  path: '/members/remove',
  name: 'MembersRemove',
  summary: 'Remove a member',
  description:
    'Takes all roles on a project or an entity from a person or a group. What it has by a wider grant, or by a group, stays. Removing nobody changes nothing.',
  request: () =>
    record({ ...place, member: memberField }, {}, (fields) => ({ scope: toScope(fields) }), onePlace),
  projects: projectOf,
  answer: membership,
  examples: {
    person: {
      summary: 'Ada has no role in the shop any more',
      body: { project_id: 'acme/shop', member: 'ada@example.com' },
      answer: { member: 'ada@example.com', grants: [] },
    },
  },
});

const grant = z
  .pipe(
    z.string().check(z.refine((text) => parseGrant(text) !== undefined, rule(grantRule))),
    z.transform((text) => parseGrant(text) as Grant),
  )
  .register(documented, {
    name: 'Grant',
    keywords: {
      pattern: `^(?:\\*|(?!\\.{1,2}/)${part}/(?:\\*|(?!\\.{1,2}:)${part})):(?:${roles.join('|')})$`,
    },
  });

const userRule =
  'should be 1 to 128 printable characters, without colon, double quote, backslash and space around them';

const usd = nullish(numeric(z.number().check(z.positive(), z.maximum(maxLimitUsd))));

const nullableUsd = z.nullable(z.number());

const keyFields = {
  key_id: field(z.string(), "The key's id: no secret."),
  user: field(z.string(), 'Whose key it is. What the key writes has this name.'),
  grants: field(z.array(z.string()), '`<entity>/<project>:<role>`, `<entity>/*:<role>` or `*:<role>`.'),
  created_at: field(timestamp, 'When it was made.'),
  expires_at: field(z.nullable(timestamp), 'When it expires; null for never.'),
  usd_per_day: field(nullableUsd, 'What its model requests may cost in a UTC day; null for any amount.'),
  usd_per_month: field(nullableUsd, 'The same, of a UTC month.'),
};

export const keysCreate = /* @__PURE__ */ endpoint({
  ...common,
  path: '/keys/create',
  name: 'KeysCreate',
  summary: 'Make a key',
  description:
    'Makes a key and answers it, this once. It takes the role `admin` on all that the key is for. Where people sign in, its user is no e-mail address but the caller’s own. Repeated, it makes another key: one that nobody has seen is of no use, and can be revoked.',
  request: () =>
    record({
      user: field(z.string().check(z.refine(isUser, rule(userRule))), 'Whose key it is.'),
      grants: field(
        listSchema(grant, 50, { least: 1, noun: 'grants' }),
        '`<entity>/<project>:<role>`, `<entity>/*:<role>` or `*:<role>`, 4,096 characters in all.',
      ),
      expires_at: field(nullish(micros), 'When it expires; never without it.'),
      usd_per_day: field(
        usd,
        'The most that its model requests may cost in a UTC day, with the setting `limits`.',
      ),
      usd_per_month: field(usd, 'The same, of a UTC month.'),
    }),
  projects: ({ grants }: { readonly grants: readonly Grant[] }) =>
    grants.flatMap(({ scope }, i) =>
      projectOf({ scope }).map(({ projectId: id }) => ({ projectId: id, loc: ['grants', String(i)] })),
    ),
  answer: () =>
    z.object({
      key: field(z.string(), 'The key, which the service does not keep.'),
      ...keyFields,
    }),
  examples: {
    ci: {
      summary: 'A key for a build',
      body: { user: 'ci', grants: ['acme/shop:write'] },
      answer: {
        key: '{key}',
        key_id: '{key_id}',
        user: 'ci',
        grants: ['acme/shop:write'],
        created_at: '2026-10-01T09:30:00.123000Z',
        expires_at: null,
        usd_per_day: null,
        usd_per_month: null,
      },
    },
  },
});

export const keysQuery = /* @__PURE__ */ endpoint({
  ...common,
  path: '/keys/query',
  name: 'KeysQuery',
  summary: 'List keys',
  description:
    'The keys, and the IAM roles with grants, that may do something where the caller has the role `admin`: in one project, or anywhere. The oldest comes first. Revoked and expired ones are listed, too.',
  request: () =>
    record({ project_id: field(nullish(projectId), 'Only keys that may do something in this project.') }),
  projects: ({ projectId: id }: { readonly projectId: ProjectId | null }) =>
    id === null ? [] : [{ projectId: id, loc: ['project_id'] }],
  answer: () =>
    z.object({
      keys: field(
        z.array(
          z.object({
            kind: field(z.enum(['key', 'role']), 'Whether it is a key, or an IAM role that signs.'),
            ...keyFields,
            grants_elsewhere: field(
              z.boolean(),
              'Whether it has further grants, on what the caller does not administer.',
            ),
            state: field(z.enum(['active', 'revoked', 'expired']), 'Whether it can be used.'),
            revoked_at: field(z.nullable(timestamp), 'When it was revoked.'),
            last_used_on: field(
              z.nullable(z.string()),
              'The last UTC day on which it was used, `2026-10-01`; null if none is known.',
            ),
            made_by_deployment: field(z.boolean(), 'Whether a deployment made it, which needs it.'),
            can_revoke: field(z.boolean(), 'Whether the caller may revoke it.'),
          }),
        ),
        'The oldest first.',
      ),
    }),
  examples: {
    local: {
      summary: 'A project that only the key of the local service is for',
      body: { project_id: 'nobody/here' },
      answer: {
        keys: [
          {
            kind: 'key',
            key_id: '0123456789abcdef',
            user: 'local',
            grants: ['*:read', '*:report', '*:write', '*:inference', '*:admin'],
            created_at: '2026-10-01T09:30:00.123000Z',
            expires_at: null,
            usd_per_day: null,
            usd_per_month: null,
            grants_elsewhere: false,
            state: 'active',
            revoked_at: null,
            last_used_on: '2026-10-01',
            made_by_deployment: false,
            can_revoke: false,
          },
        ],
      },
    },
  },
});

export const keysRevoke = /* @__PURE__ */ endpoint({
  ...common,
  path: '/keys/revoke',
  name: 'KeysRevoke',
  summary: 'Revoke a key',
  description:
    'Revokes a key for good, or an IAM role until it is granted something anew. It takes the role `admin` on all that the key is for. It counts within `authorizerCacheSeconds`. The same again changes nothing. The key of the request itself, and keys that a deployment made, are not revoked here.',
  request: () =>
    record({
      key_id: field(
        z
          .string()
          .check(
            z.refine(
              isKeyId,
              rule('should be the id of a key: 16 of 0-9 and a-z, the middle part of the key'),
            ),
          )
          .register(documented, { keywords: { pattern: '^[0-9a-z]{16}$' } }),
        "The key's id, the middle part of the key.",
      ),
    }),
  projects: () => [],
  errors: [404],
  answer: () =>
    z.object({
      key_id: field(z.string(), 'The id of the key.'),
      revoked_at: field(timestamp, 'When it was revoked first.'),
    }),
  examples: {},
});

/** An entry of the audit trail. */
export const auditRecord = () =>
  z
    .object({
      id: field(z.string(), 'Tells entries apart.'),
      at: field(timestamp, 'When it was done.'),
      project_id: field(
        z.nullable(z.string()),
        'Its project; null if it is about an entity, or the service.',
      ),
      entity: field(z.nullable(z.string()), 'Its entity; null if it is about the service as a whole.'),
      actor: field(
        z.object({
          kind: field(
            z.enum(actorKinds),
            'A key, a person who signed in, an IAM role, or an operator with a command.',
          ),
          user: field(z.string(), 'The user of the key, the person, or the ARN.'),
          key_id: field(z.optional(z.string()), 'The id of the key, or of what a role is granted.'),
        }),
        'Who did it.',
      ),
      address: field(z.nullable(z.string()), 'The IP address that it came from; null for an operator.'),
      action: field(z.string(), 'What was done: docs/audit.md lists the actions.'),
      target: field(z.string(), 'What it was done to.'),
      before: field(z.optional(z.unknown()), 'What was there before, of at most 4 KiB.'),
      after: field(z.optional(z.unknown()), 'What is there since, of at most 4 KiB.'),
    })
    .register(documented, { name: 'AuditRecord' });

const maxRecords = 1000;

export const auditQuery = /* @__PURE__ */ endpoint({
  ...common,
  path: '/audit/query',
  name: 'AuditQuery',
  summary: 'Query the audit trail',
  description:
    'Who did what, the newest first: of a project; of an entity with all its projects; or, without either, what is about the service as a whole, such as sign-ins. It takes the role `admin` there. Entries end after `auditDays`.',
  request: () =>
    record(
      {
        ...place,
        start: field(micros, 'From when on.'),
        end: field(micros, 'Until when; this time is not part of it.'),
        actor: field(nullish(z.string()), 'Only what this user, person, ARN or id of a key did.'),
        action: field(
          nullish(z.string()),
          'Only this action, such as `key.create`, or all of its first word, such as `key`.',
        ),
        limit: field(
          withDefault(integerWith(z.minimum(0), z.maximum(maxRecords)), 100),
          'The most entries, at most 1,000; 100 without it. For more, ask again with `end` at the last one.',
        ),
      },
      {},
      (fields) => ({ scope: toScope(fields) }),
      z.check<Place>(({ value, issues }) => {
        if (value.project_id && value.entity)
          issues.push(problem('name one of project_id and entity, or neither', value, 'entity'));
      }),
    ),
  projects: projectOf,
  answer: () => z.object({ records: field(z.array(auditRecord()), 'The newest first.') }),
  examples: {
    none: {
      summary: 'A day on which nothing happened',
      body: { project_id: 'acme/shop', start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z' },
      answer: { records: [] },
    },
  },
});

/** The endpoints of this file. Their examples run in this order. */
export const peopleRoutes = [
  membersQuery,
  membersSet,
  membersRemove,
  keysCreate,
  keysQuery,
  keysRevoke,
  auditQuery,
] as const;
