import type { Sent } from '../service/in-process.ts';
import { type Fixture, missing } from './fixture.ts';
import type { Scenario } from './scenario.ts';

const version = (p: string, val: number): Sent => ({
  path: '/obj/create',
  body: { obj: { project_id: p, object_id: 'model', val } },
});
const versions = (p: string): Sent[] => [version(p, 1), version(p, 2)];
const aliases = (p: string, digest: string, list: readonly string[]): Sent => ({
  method: 'PUT',
  path: '/objs/model/aliases',
  body: { project_id: p, digest, aliases: list },
});
const tags = (p: string, list: readonly string[]): Sent => ({
  method: 'PUT',
  path: '/objs/model/versions/v1/tags',
  body: { project_id: p, tags: list },
});
const listed = (p: string, path: string): Sent => ({
  method: 'GET',
  path: `${path}?project_id=${encodeURIComponent(p)}`,
  body: {},
});
const labelled = (p: string): Sent[] => [
  ...versions(p),
  aliases(p, 'v0', ['prod', 'old']),
  tags(p, ['good', 'fast']),
];
const labels = (p: string): Sent[] => [
  listed(p, '/aliases'),
  listed(p, '/tags'),
  { path: '/obj/read', body: { project_id: p, object_id: 'model', digest: 'prod' }, mayBeAbsent: true },
];

const noVersion = missing('digest', 'there is no such version of promptno in acme/shop');
const labelObjects = ['objects: BatchGetItem BatchWriteItem'] as const;
const movedObjects = ['objects: BatchGetItem ConditionCheckItem DeleteItem PutItem'] as const;
const listing = (kind: 'aliases' | 'tags') => ({
  permitted: ['objects: Query'],
  path: (p: string) => `/${kind}?project_id=${encodeURIComponent(p)}`,
  answer: `{"${kind}":[]}`,
  projectAt: ['query', 'project_id'],
});

/** The endpoints of tags and aliases, which Weave's door alone has. */
export const labelFixtures = {
  '/objs/{object_id}/aliases': {
    permitted: movedObjects,
    path: (_, { object }) => `/objs/${object}/aliases`,
    body: (p) => ({ project_id: p, digest: 'latest', aliases: ['ours'] }),
    ...noVersion,
    probes: { 'a digest': (p, { digest }) => ({ project_id: p, digest, aliases: ['ours'] }) },
    scenarios: [
      {
        name: 'an alias that moves, and a new one',
        before: labelled,
        request: (p) => aliases(p, 'v1', ['prod', 'new']),
        views: labels,
      },
    ],
  },
  '/objs/{object_id}/aliases/remove': {
    permitted: movedObjects,
    path: (_, { object }) => `/objs/${object}/aliases/remove`,
    body: (p, { alias }) => ({ project_id: p, aliases: [alias] }),
    answer: '{}',
    scenarios: [
      {
        name: 'two aliases, and one that is not there',
        before: labelled,
        request: (p) => ({
          path: '/objs/model/aliases/remove',
          body: { project_id: p, aliases: ['prod', 'old', 'none'] },
        }),
        views: labels,
      },
    ],
  },
  '/objs/{object_id}/versions/{digest}/tags': {
    permitted: labelObjects,
    path: (_, { object, digest }) => `/objs/${object}/versions/${digest}/tags`,
    body: (p) => ({ project_id: p, tags: ['ours'] }),
    ...noVersion,
    scenarios: [
      {
        name: 'tags, of which one is there',
        before: labelled,
        request: (p) => tags(p, ['good', 'new']),
        views: labels,
      },
    ],
  },
  '/objs/{object_id}/versions/{digest}/tags/remove': {
    permitted: labelObjects,
    path: (_, { object, digest }) => `/objs/${object}/versions/${digest}/tags/remove`,
    body: (p) => ({ project_id: p, tags: ['good'] }),
    ...noVersion,
    scenarios: [
      {
        name: 'two tags',
        before: labelled,
        request: (p) => ({
          path: '/objs/model/versions/v1/tags/remove',
          body: { project_id: p, tags: ['good', 'fast'] },
        }),
        views: labels,
      },
    ],
  },
  '/aliases': {
    namesNothing: true,
    ...listing('aliases'),
    scenarios: [
      { name: 'the aliases of a project', before: labelled, request: (p) => listed(p, '/aliases') },
    ],
  },
  '/tags': {
    namesNothing: true,
    ...listing('tags'),
    scenarios: [{ name: 'the tags of a project', before: labelled, request: (p) => listed(p, '/tags') }],
  },
} as const satisfies Readonly<Record<string, Fixture>>;

/** What endpoints of objects do besides, through Weave's door. */
export const labelScenarios = {
  '/objs/query': [
    {
      name: 'versions with a tag',
      before: labelled,
      request: (p) => ({ path: '/objs/query', body: { project_id: p, filter: { tags: ['good'] } } }),
    },
  ],
  '/obj/delete': [
    {
      name: 'a version with its labels',
      before: labelled,
      request: (p) => ({
        path: '/obj/delete',
        body: { project_id: p, object_id: 'model', digests: ['v0'] },
      }),
      views: labels,
    },
    {
      name: 'a version by one of its aliases',
      before: labelled,
      request: (p) => ({
        path: '/obj/delete',
        body: { project_id: p, object_id: 'model', digests: ['prod'] },
      }),
      views: (p) => [...labels(p), { path: '/objs/query', body: { project_id: p } }],
    },
  ],
} as const satisfies Readonly<Record<string, readonly Scenario[]>>;
