import type { Sent } from '../service/in-process.ts';
import { type Fixture, missing, objectRef } from './fixture.ts';
import { retain } from './project.ts';
import { noise, type Scenario } from './scenario.ts';
import { largeRow, readTables } from './tables.ts';

const create = (p: string, val: unknown, objectId = 'prompt'): Sent => ({
  path: '/obj/create',
  body: { obj: { project_id: p, object_id: objectId, val } },
});
const small = { text: 'Be brief.' };
const big = { text: noise(80_000) };

const views = (p: string): Sent[] => [{ path: '/objs/query', body: { project_id: p, filter: {} } }];

const versions = (p: string): Sent[] => [create(p, small), create(p, big), create(p, [1, 2], 'list')];

const creations: readonly Scenario[] = [
  {
    name: 'a version that there is',
    before: versions,
    request: (p) => create(p, small),
    views,
    atomic: true,
  },
  { name: 'a first version', request: (p) => create(p, small), views, atomic: true },
  {
    name: 'a further version, in the bucket',
    before: (p) => [create(p, small)],
    request: (p) => create(p, big),
    views,
    // The version before is the latest until the new one is there.
    atomic: true,
  },
];

const deletions: readonly Scenario[] = [
  {
    name: 'all versions of an object',
    before: versions,
    request: (p) => ({ path: '/obj/delete', body: { project_id: p, object_id: 'prompt' } }),
    views,
  },
  {
    name: 'one version, in the bucket',
    before: versions,
    request: (p, answers) => ({
      path: '/obj/delete',
      body: {
        project_id: p,
        object_id: 'prompt',
        digests: [(JSON.parse(answers[1]?.text ?? '') as { digest: string }).digest],
      },
    }),
    views,
    atomic: true,
  },
];

const read = (p: string, objectId: string, digest: string): Sent => ({
  path: '/obj/read',
  body: { project_id: p, object_id: objectId, digest },
});

const readObjects = ['objects: BatchGetItem', 'bucket/objects/*: GetObject', 'bucket: ListBucket'] as const;

/** The routes of objects. */
export const objectFixtures = {
  '/obj/create': {
    permitted: [
      'objects: BatchGetItem BatchWriteItem DeleteItem PutItem Query',
      'bucket/objects/*: PutObject DeleteObject',
      'bookkeeping: UpdateItem',
      'audit: PartiQLInsert',
    ],
    body: (p) => ({ obj: { project_id: p, object_id: 'prompt', val: { text: 'Be brief.' } } }),
    answer: '{"digest":"Aq_qvTIUDe9WqRjopwcsPaFfDkKKbf_5pqt_j6G66Ec","object_id":"prompt"}',
    projectAt: ['body', 'obj', 'project_id'],
    probes: {
      'an object': (p, { object }) => ({ obj: { project_id: p, object_id: object, val: { text: 'ours' } } }),
    },
    seldom: {
      'DeleteObject on bucket/objects/*':
        'of versions at once, those that do not get the index clear their values away',
    },
    scenarios: creations,
  },
  '/obj/delete': {
    permitted: [
      'objects: BatchGetItem BatchWriteItem DeleteItem PutItem Query',
      'bucket/objects/*: DeleteObject',
      'bookkeeping: UpdateItem',
      'audit: PartiQLInsert',
    ],
    body: (p, { object }) => ({ project_id: p, object_id: object }),
    answer: '{"num_deleted":0}',
    probes: {
      'a digest': (p, { object, digest }) => ({ project_id: p, object_id: object, digests: [digest] }),
    },
    scenarios: deletions,
    uses: [
      {
        name: 'the retention of a project',
        before: (p) => [retain(p, { calls_days: 30 })],
        request: (p) => ({ path: '/obj/delete', body: { project_id: p, object_id: 'retention' } }),
      },
    ],
  },
  '/obj/read': {
    permitted: readObjects,
    body: (p, { object }) => ({ project_id: p, object_id: object, digest: 'latest' }),
    ...missing('object_id', 'there is no object "promptno" in acme/shop'),
    probes: { 'a digest': (p, { object, digest }) => ({ project_id: p, object_id: object, digest }) },
    scenarios: [
      {
        name: 'the latest version, from the bucket',
        before: versions,
        request: (p) => read(p, 'prompt', 'latest'),
      },
      { name: 'an older version', before: versions, request: (p) => read(p, 'prompt', 'v0') },
    ],
  },
  '/objs/query': {
    permitted: [...readObjects, 'objects: Query'],
    body: (p, { object }) => ({ project_id: p, filter: { object_ids: [object] } }),
    answer: '{"objs":[]}',
    scenarios: [
      {
        name: 'all versions with their values',
        before: versions,
        request: (p) => ({ ...views(p)[0], path: '/objs/query', body: { project_id: p } }),
      },
    ],
  },
  '/refs/read_batch': {
    permitted: [...readObjects, ...readTables],
    body: (p, { object }) => ({ refs: [objectRef(p, object, 'latest')] }),
    answer: '{"vals":[null]}',
    projectAt: ['body', 'refs', '0'],
    probes: {
      versions: (p, { object, digest }) => ({
        refs: [objectRef(p, object, digest), objectRef(p, object, 'v0')],
      }),
    },
    scenarios: [
      {
        name: 'values of items and of the bucket, and a ref to nothing',
        before: versions,
        request: (p) => ({
          path: '/refs/read_batch',
          body: {
            refs: [
              `svc:///${p}/object/prompt:v0`,
              `svc:///${p}/object/prompt:latest/attr/text`,
              `svc:///${p}/object/list:latest/index/1`,
              `svc:///${p}/object/nothing:latest`,
            ],
          },
        }),
      },
    ],
    uses: [
      {
        name: 'a row of a dataset',
        before: largeRow.before,
        request: (p) => ({ path: '/refs/read_batch', body: { refs: [largeRow.ref(p)] } }),
      },
    ],
  },
} as const satisfies Readonly<Record<string, Fixture>>;
