import type { Sent } from '../../support/in-process.ts';
import { noise, type Scenario } from './scenario.ts';

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

/** The routes of objects. */
export const objectScenarios: Readonly<Record<string, readonly Scenario[]>> = {
  '/obj/create': creations,
  '/obj/delete': deletions,
  '/obj/read': [
    {
      name: 'the latest version, from the bucket',
      before: versions,
      request: (p) => read(p, 'prompt', 'latest'),
    },
    { name: 'an older version', before: versions, request: (p) => read(p, 'prompt', 'v0') },
  ],
  '/objs/query': [
    {
      name: 'all versions with their values',
      before: versions,
      request: (p) => ({ ...views(p)[0], path: '/objs/query', body: { project_id: p } }),
    },
  ],
  '/refs/read_batch': [
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
};
