import { createHash } from 'node:crypto';
import type { StoredRequest } from '../golden.ts';
import { noise } from '../noise.ts';
import { otherProject, project } from './names.ts';

/** An object's value whose JSON is canonical as it stands. */
type Value = string | Readonly<Record<string, unknown>>;

const oddId = 'odd “object” ☃?#%';
const values = {
  first: { text: 'Be brief.' },
  second: { parts: [{ text: 'Be kind.' }, `svc:///${project}/object/prompt:v0`], 'slash/key': 1 },
  large: { noise: noise('value') },
  doomed: { noise: noise('value-doomed') },
  noted: { noise: noise('value-noted') },
} satisfies Record<string, Value>;

const toDigest = (value: Value): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url');

const creation = (name: string, object_id: string, val: unknown, owner = project): StoredRequest => ({
  name,
  path: '/obj/create',
  body: { obj: { project_id: owner, object_id, val } },
});

const deletion = (name: string, object_id: string, ...digests: string[]): StoredRequest => ({
  name,
  path: '/obj/delete',
  body: { project_id: project, object_id, ...(digests.length > 0 && { digests }) },
});

/** Writes objects of every kind that the table and the bucket can hold. */
export const objectWrites: readonly StoredRequest[] = [
  creation('an object', 'prompt', values.first),
  creation('its second version', 'prompt', values.second),
  creation('its third version, in the bucket', 'prompt', values.large),
  creation('the value of its first version again', 'prompt', values.first),
  creation('an op', 'judge', { _type: 'op', name: 'judge', code: 'def judge(): ...' }),
  creation('an object of a class', 'config', {
    _class_name: 'Config',
    _bases: ['Settings', 'Object', 'BaseModel'],
    text: 'é\ud800',
    amounts: [0, -1.5, 1e-300, null, true],
  }),
  creation('an object whose id and value are odd', oddId, ''),
  creation('an object of another project', 'prompt', values.first, otherProject),
  creation('a version that is deleted', 'cut', { n: 1 }),
  creation('a version in the bucket that is deleted', 'cut', values.doomed),
  creation('a version that stays', 'cut', { n: 3 }),
  creation('the latest version, which is deleted', 'cut', { n: 4 }),
  deletion('versions go', 'cut', toDigest({ n: 1 }), toDigest(values.doomed), toDigest({ n: 4 })),
  creation('an object whose versions all go', 'gone', { n: 1 }),
  deletion('all versions go', 'gone'),
  creation('an object before a creation dies', 'noted', { n: 1 }),
  {
    ...creation('a creation that dies once its value is in the bucket', 'noted', values.noted),
    refused: 'TransactWriteItems',
  },
];

/** Makes and deletes versions of those objects again. */
export const objectRewrites: readonly StoredRequest[] = [
  creation('a fourth version', 'prompt', { text: 'Be brief, and kind.' }),
  creation('the value of the version in the bucket again', 'prompt', values.large),
  creation('a value that was deleted', 'cut', { n: 1 }),
  creation('a version where none was left', 'gone', { n: 2 }),
  creation('another version after the creation that died', 'noted', { n: 2 }),
  deletion('a deletion that finds what the creation left', 'noted', toDigest({ n: 1 })),
  deletion('the version in the bucket goes', 'prompt', toDigest(values.large)),
  deletion('the op goes', 'judge'),
];

const refs = [
  'prompt:latest',
  'prompt:v1/attr/parts/index/0/key/text',
  'prompt:v1/key/slash%2Fkey',
  `prompt:${toDigest(values.first)}`,
  'prompt:v2/attr/noise',
  'cut:v1',
  'cut:latest',
  'gone:latest',
  'noted:latest',
  `${encodeURI('nothing')}:v0`,
].map((rest) => `svc:///${project}/object/${rest}`);

const addresses = [
  ['prompt', 'latest'],
  ['prompt', 'v2'],
  ['prompt', toDigest(values.first)],
  [oddId, 'v0'],
  ['cut', 'latest'],
  ['cut', toDigest({ n: 1 })],
  ['gone', 'latest'],
  ['noted', 'latest'],
] as const;

const query = (name: string, body: object): StoredRequest => ({
  name: `objects: ${name}`,
  path: '/objs/query',
  body: { project_id: project, ...body },
});

/** Reads objects by lists, addresses and refs. */
export const objectReads: readonly StoredRequest[] = [
  query('all versions', {}),
  query('the latest', { filter: { latest_only: true }, metadata_only: true }),
  query('newest first', {
    sort_by: [{ field: 'created_at', direction: 'desc' }],
    metadata_only: true,
    limit: 3,
  }),
  query('ops', { filter: { is_op: true } }),
  query('of a class', { filter: { base_object_classes: ['Settings'] } }),
  query('by id', { filter: { object_ids: ['cut', oddId, 'gone'] } }),
  ...addresses.map(
    ([object_id, digest]): StoredRequest => ({
      name: `object ${object_id}, ${digest}`,
      path: '/obj/read',
      body: { project_id: project, object_id, digest },
    }),
  ),
  {
    name: 'what refs lead to',
    path: '/refs/read_batch',
    body: { refs: [...refs, `svc:///${project}/op/judge:latest`, `svc:///${otherProject}/object/prompt:v0`] },
  },
];
