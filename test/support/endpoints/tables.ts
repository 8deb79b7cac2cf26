import { weaveDoor } from '../../../core/doors/weave/index.ts';
import { tableDigest } from '../../../core/records/tables/index.ts';
import { type Digests, ownDigests } from '../../../foundations/door.ts';
import type { JsonObject } from '../../../foundations/wire/index.ts';
import type { Sent } from '../service/in-process.ts';
import { type Fixture, missing } from './fixture.ts';
import { fileForm, forBucket, noise, type Scenario } from './scenario.ts';

/** Rows that are told apart by where they begin, of so many characters each. */
const rows = (from: number, count: number, characters = 20): JsonObject[] =>
  Array.from({ length: count }, (_, i) => ({ id: from + i, text: noise(characters, `${from + i}`) }));

const toDigests = (list: readonly JsonObject[], { ofValue }: Digests = ownDigests): string[] =>
  list.map(ofValue);

const create = (p: string, list: readonly JsonObject[]): Sent => ({
  path: '/table/create',
  body: { table: { project_id: p, rows: list } },
});
const table = (p: string, list: readonly JsonObject[], digests?: Digests): Sent => ({
  path: '/table/query',
  body: { project_id: p, digest: tableDigest(toDigests(list, digests)) },
  mayBeAbsent: true,
});

const few = rows(0, 3);
/** More than an item holds: rows do not compress. */
const many = rows(100, 8, 4000);

const tables: readonly Scenario[] = [
  { name: 'a small table', request: (p) => create(p, few), views: (p) => [table(p, few)], atomic: true },
  {
    name: 'a table in the bucket, of which some rows are there',
    before: (p) => [create(p, many.slice(0, 3))],
    request: (p) => create(p, many),
    views: (p) => [table(p, many)],
    atomic: true,
  },
];

const small = 'print("small")';
const large = noise(30_000);

/** The fixtures of what stores files and of what reads them, by their paths. */
const fileFixtures = (createPath: string, contentPath: string, { ofBytes }: Digests = ownDigests) => {
  const form = (p: string, text: string): Sent => ({ ...fileForm(p, text), path: createPath });
  const content = (p: string, text: string): Sent => ({
    path: contentPath,
    body: { project_id: p, digest: ofBytes(Buffer.from(text)) },
    mayBeAbsent: true,
  });
  const stored = (name: string, text: string): Scenario => ({
    name,
    request: (p) => form(p, text),
    views: (p) => [content(p, text)],
    atomic: true,
  });
  const read = (name: string, text: string): Scenario => ({
    name,
    before: (p) => [form(p, text)],
    request: (p) => content(p, text),
  });
  const create: Fixture = {
    namesNothing: true,
    permitted: [
      'objects: BatchGetItem BatchWriteItem',
      'bucket/files/*: PutObject',
      'bookkeeping: UpdateItem',
    ],
    body: (p) => form(p, 'secret').body,
    headers: (p) => form(p, '').headers ?? {},
    answer: `{"digest":"${ofBytes(Buffer.from('secret'))}"}`,
    probes: { 'the same file': (p) => form(p, 'secret').body },
    scenarios: [stored('a small file', small), stored('a file in the bucket', large)],
  };
  const contents: Fixture = {
    permitted: ['objects: BatchGetItem', 'bucket/files/*: GetObject', 'bucket: ListBucket'],
    body: (p, { file: asked }) => ({ project_id: p, digest: asked }),
    ...missing('digest', `there is no file ${'A'.repeat(43)} in acme/shop`),
    scenarios: [read('a small file', small), read('a file of the bucket', large)],
  };
  return { create, contents };
};

const files = fileFixtures('/file/create', '/file/content');
const formerFiles = fileFixtures('/files/create', '/files/content', weaveDoor.digests);

const bases = (p: string): Sent[] => [create(p, few), create(p, many)];
const all = [...few, ...many];
const updated = [...many.slice(1), ...few.slice(0, 1), ...rows(900, 1)];
const digest = tableDigest(toDigests(many));

/** What it takes to read rows of tables. */
export const readTables = [
  'objects: BatchGetItem Query',
  'bucket/tables/*: GetObject',
  'bucket: ListBucket',
] as const;
const secret = { text: 'secret' };
const noTable = missing('base_digest', `there is no table ${'0'.repeat(64)} in acme/shop`);
const noTableRead = missing('digest', `there is no table ${'0'.repeat(64)} in acme/shop`);

const largeRows = [{ id: 'a' }, { id: 'b', text: noise(forBucket) }];

/** A dataset, one of whose rows is in the bucket, and a ref to that row; by the digests of a door. */
export const makeLargeRow = (digests: Digests) => ({
  before: (p: string): Sent[] => {
    const val = { rows: `svc:///${p}/table/${tableDigest(toDigests(largeRows, digests))}` };
    return [
      create(p, largeRows),
      { path: '/obj/create', body: { obj: { project_id: p, object_id: 'dataset', val } } },
    ];
  },
  ref: (p: string): string =>
    `svc:///${p}/object/dataset:latest/attr/rows/id/${toDigests(largeRows, digests)[1]}`,
});

export const largeRow = makeLargeRow(ownDigests);

/** The routes of files and tables. */
export const tableFixtures = {
  '/table/create': {
    namesNothing: true,
    permitted: ['objects: BatchWriteItem Query', 'bucket/tables/*: PutObject', 'bookkeeping: UpdateItem'],
    body: (p) => ({ table: { project_id: p, rows: [] } }),
    answer: `{"digest":"${tableDigest([])}","row_digests":[]}`,
    projectAt: ['body', 'table', 'project_id'],
    probes: { rows: (p) => ({ table: { project_id: p, rows: [secret] } }) },
    scenarios: tables,
  },
  '/table/update': {
    permitted: [...readTables, 'objects: BatchWriteItem', 'bucket/tables/*: PutObject'],
    body: (p, { table: base }) => ({ project_id: p, base_digest: base, updates: [] }),
    ...noTable,
    scenarios: [
      {
        name: 'a row less, one of another table, and a new one',
        before: bases,
        request: (p) => ({
          path: '/table/update',
          body: {
            project_id: p,
            base_digest: digest,
            updates: [
              { pop: { index: 0 } },
              { append: { row: few[0] } },
              { append: { row: rows(900, 1)[0] } },
            ],
          },
        }),
        views: (p) => [table(p, updated), table(p, many)],
      },
    ],
    uses: [
      {
        name: 'a new row, in the bucket',
        before: bases,
        request: (p) => ({
          path: '/table/update',
          body: { project_id: p, base_digest: digest, updates: [{ append: { row: largeRows[1] } }] },
        }),
      },
    ],
  },
  '/table/query': {
    permitted: readTables,
    body: (p, { table: asked }) => ({ project_id: p, digest: asked }),
    ...noTableRead,
    scenarios: [
      { name: 'all rows of a small table', before: bases, request: (p) => table(p, few) },
      {
        name: 'rows of the bucket by digest, sorted',
        before: bases,
        request: (p) => ({
          path: '/table/query',
          body: {
            project_id: p,
            digest,
            sort_by: [{ field: 'text', direction: 'desc' }],
            filter: { row_digests: toDigests([...many.slice(0, 2), ...many.slice(-2)]) },
          },
        }),
      },
    ],
  },
  '/table/query_stats': {
    permitted: ['objects: BatchGetItem'],
    body: (p, { table: asked }) => ({ project_id: p, digest: asked }),
    ...noTableRead,
    scenarios: [
      {
        name: 'how many rows a table has',
        before: bases,
        request: (p) => ({ path: '/table/query_stats', body: { project_id: p, digest } }),
      },
    ],
  },
  '/file/create': files.create,
  '/file/content': files.contents,
} as const satisfies Readonly<Record<string, Fixture>>;

/** The endpoints of tables that Weave's door alone has. */
export const weaveTableFixtures = {
  '/table/create_from_digests': {
    permitted: ['objects: BatchWriteItem Query', 'bucket/tables/*: PutObject'],
    body: (p) => ({ project_id: p, row_digests: [] }),
    answer: `{"digest":"${tableDigest([])}"}`,
    probes: { 'a row': (p, { row }) => ({ project_id: p, row_digests: [row] }) },
    scenarios: [
      {
        name: 'a table of rows that came in two requests',
        before: bases,
        request: (p) => ({
          path: '/table/create_from_digests',
          body: { project_id: p, row_digests: toDigests(all, weaveDoor.digests) },
        }),
        views: (p) => [table(p, all, weaveDoor.digests)],
        atomic: true,
      },
    ],
  },
  '/table/query_stats_batch': {
    permitted: ['objects: BatchGetItem'],
    body: (p, { table: asked }) => ({ project_id: p, digests: [asked] }),
    answer: '{"tables":[]}',
    scenarios: [
      {
        name: 'how large tables are',
        before: bases,
        request: (p) => ({
          path: '/table/query_stats_batch',
          body: {
            project_id: p,
            digests: [many, few].map((list) => tableDigest(toDigests(list, weaveDoor.digests))),
            include_storage_size: true,
          },
        }),
      },
    ],
  },
  '/files/create': formerFiles.create,
  '/files/content': formerFiles.contents,
} as const satisfies Readonly<Record<string, Fixture>>;
