import type { Sent } from '../service/in-process.ts';
import { type Fixture, missing } from './fixture.ts';
import { noise, type Scenario } from './scenario.ts';

const create = (p: string, text: string, fields: object = {}): Sent => ({
  path: '/prompt/create',
  body: { project_id: p, name: 'support', text, ...fields },
});
const move = (p: string, label: string, index: number | null): Sent => ({
  path: '/prompt/labels',
  body: { project_id: p, name: 'support', label, version_index: index },
});
const read = (p: string, choice: object = {}): Sent => ({
  path: '/prompt/read',
  body: { project_id: p, name: 'support', ...choice },
  mayBeAbsent: true,
});
const get = (p: string, choice: Readonly<Record<string, string>> = {}): Sent => ({
  method: 'GET',
  path: `/prompt/read?${new URLSearchParams({ project_id: p, name: 'support', ...choice })}`,
  body: {},
});
const list = (p: string, fields: object = {}): Sent => ({
  path: '/prompts/query',
  body: { project_id: p, ...fields },
});

/** Two versions, the first of which has labels. */
const versions = (p: string): Sent[] => [
  create(p, 'Be brief.', { labels: ['production', 'old'] }),
  create(p, noise(80_000)),
];
const views = (p: string): Sent[] => [read(p), read(p, { label: 'latest' }), read(p, { label: 'old' })];

const creations: readonly Scenario[] = [
  {
    name: 'a version that there is, with a label that moves',
    before: versions,
    request: (p) => create(p, noise(80_000), { labels: ['old'] }),
    views,
    atomic: true,
  },
  { name: 'a first version', request: (p) => create(p, 'Be brief.'), views, atomic: true },
  {
    name: 'a further version, in the bucket, with two labels',
    before: (p) => [create(p, 'Be brief.', { labels: ['production'] })],
    request: (p) => create(p, noise(80_000), { labels: ['production', 'old'] }),
    views,
  },
];

const moves: readonly Scenario[] = [
  {
    name: 'a label that is new',
    before: versions,
    request: (p) => move(p, 'new', 1),
    views: (p) => [...views(p), read(p, { label: 'new' })],
    atomic: true,
  },
  {
    name: 'a label that is removed',
    before: versions,
    request: (p) => move(p, 'old', null),
    views,
    atomic: true,
  },
  {
    name: 'a label that moves',
    before: versions,
    request: (p) => move(p, 'production', 1),
    views,
    atomic: true,
  },
];

const reads: readonly Scenario[] = [
  { name: 'the version in production, from its item', before: versions, request: (p) => get(p) },
  {
    name: 'the latest version, from the bucket',
    before: versions,
    request: (p) => read(p, { label: 'latest' }),
  },
];

/** One function answers all of them, and `/issues/update`. */
export const permitted = [
  'objects: BatchGetItem BatchWriteItem ConditionCheckItem DeleteItem PutItem Query',
  'bucket/objects/*: GetObject PutObject DeleteObject',
  'bucket: ListBucket',
  'bookkeeping: UpdateItem',
  'audit: PartiQLInsert',
] as const;

const absent = missing('name', 'there is no prompt "promptno" in acme/shop');

/** The routes of prompts. */
export const promptFixtures = {
  '/prompt/create': {
    permitted,
    namesNothing: true,
    body: (p) => ({ project_id: p, name: 'ours', text: 'Be brief.' }),
    answer:
      '{"ref":"svc:///acme/shop/object/ours:AidXw2CrQv7U_Cx3VwthJDp9YkvHR3YWQnzYYnZw1-8","digest":"AidXw2CrQv7U_Cx3VwthJDp9YkvHR3YWQnzYYnZw1-8","version_index":0}',
    scenarios: creations,
    uses: [...moves, ...reads],
    seldom: {
      'DeleteObject on bucket/objects/*':
        'of versions at once, those that do not get the index clear their values away',
    },
  },
  '/prompt/read': {
    permitted,
    body: (p, { object }) => ({ project_id: p, name: object }),
    ...absent,
    probes: {
      'a digest': (p, { object, digest }) => ({ project_id: p, name: object, digest }),
      'a label': (p, { object, alias }) => ({ project_id: p, name: object, label: alias }),
    },
    scenarios: reads,
  },
  '/prompt/labels': {
    permitted,
    body: (p, { object }) => ({ project_id: p, name: object, label: 'ours', version_index: 0 }),
    ...missing('version_index', 'there is no such version of promptno in acme/shop'),
    scenarios: moves,
  },
  '/prompts/query': {
    permitted,
    body: (p, { object }) => ({ project_id: p, name: object }),
    answer: '{"prompts":[],"history":[]}',
    scenarios: [
      {
        name: 'a prompt with its history',
        before: versions,
        request: (p) => list(p, { name: 'support' }),
      },
    ],
  },
} as const satisfies Readonly<Record<string, Fixture>>;
