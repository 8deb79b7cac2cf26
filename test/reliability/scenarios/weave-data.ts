import type { JsonObject } from '../../../core/foundations/wire/index.ts';
import { bytesDigest, tableDigest, valueDigest } from '../../../core/foundations/wire/weave-digest.ts';
import type { Sent } from '../../support/in-process.ts';
import { noise, type Scenario } from './scenario.ts';

/** Rows that are told apart by where they begin, of so many characters each. */
const rows = (from: number, count: number, characters = 20): JsonObject[] =>
  Array.from({ length: count }, (_, i) => ({ id: from + i, text: noise(characters, `${from + i}`) }));

const digestsOf = (list: readonly JsonObject[]): string[] => list.map(valueDigest);

const create = (p: string, list: readonly JsonObject[]): Sent => ({
  path: '/table/create',
  body: { table: { project_id: p, rows: list } },
});
const table = (p: string, list: readonly JsonObject[]): Sent => ({
  path: '/table/query',
  body: { project_id: p, digest: tableDigest(digestsOf(list)) },
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

const file = (p: string, content: string): Sent => {
  const part = (name: string, text: string) =>
    `--boundary\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
  const inFile = part('file', content).replace('"file"', '"file"; filename="f"');
  return {
    path: '/file/create',
    body: Buffer.from(`${part('project_id', p)}${inFile}--boundary--\r\n`),
    headers: { 'content-type': 'multipart/form-data; boundary=boundary' },
  };
};
const content = (p: string, text: string): Sent => ({
  path: '/file/content',
  body: { project_id: p, digest: bytesDigest(Buffer.from(text)) },
  mayBeAbsent: true,
});
const small = 'print("small")';
const large = noise(30_000);

const files: readonly Scenario[] = [
  {
    name: 'a small file',
    request: (p) => file(p, small),
    views: (p) => [content(p, small)],
    atomic: true,
  },
  {
    name: 'a file in the bucket',
    request: (p) => file(p, large),
    views: (p) => [content(p, large)],
    atomic: true,
  },
];

const bases = (p: string): Sent[] => [create(p, few), create(p, many)];
const all = [...few, ...many];
const updated = [...many.slice(1), ...few.slice(0, 1), ...rows(900, 1)];
const digest = tableDigest(digestsOf(many));
const fewDigest = tableDigest(digestsOf(few));

/** The routes of files and tables, which Weave's dialect alone has. */
export const dataScenarios: Readonly<Record<string, readonly Scenario[]>> = {
  '/table/create': tables,
  '/table/create_from_digests': [
    {
      name: 'a table of rows that came in two requests',
      before: bases,
      request: (p) => ({
        path: '/table/create_from_digests',
        body: { project_id: p, row_digests: digestsOf(all) },
      }),
      views: (p) => [table(p, all)],
      atomic: true,
    },
  ],
  '/table/update': [
    {
      name: 'a row less, one of another table, and a new one',
      before: bases,
      request: (p) => ({
        path: '/table/update',
        body: {
          ...{ project_id: p, base_digest: digest },
          updates: [{ pop: { index: 0 } }, { append: { row: few[0] } }, { append: { row: rows(900, 1)[0] } }],
        },
      }),
      views: (p) => [table(p, updated), table(p, many)],
    },
  ],
  '/table/query': [
    { name: 'all rows of a small table', before: bases, request: (p) => table(p, few) },
    {
      name: 'rows of the bucket by digest, sorted',
      before: bases,
      request: (p) => ({
        path: '/table/query',
        body: {
          ...{ project_id: p, digest, sort_by: [{ field: 'text', direction: 'desc' }] },
          filter: { row_digests: digestsOf([...many.slice(0, 2), ...many.slice(-2)]) },
        },
      }),
    },
  ],
  '/table/query_stats': [
    {
      name: 'how many rows a table has',
      before: bases,
      request: (p) => ({ path: '/table/query_stats', body: { project_id: p, digest } }),
    },
  ],
  '/table/query_stats_batch': [
    {
      name: 'how large tables are',
      before: bases,
      request: (p) => ({
        path: '/table/query_stats_batch',
        body: { project_id: p, digests: [digest, fewDigest], include_storage_size: true },
      }),
    },
  ],
  '/file/create': files,
  '/file/content': [
    { name: 'a small file', before: (p) => [file(p, small)], request: (p) => content(p, small) },
    { name: 'a file of the bucket', before: (p) => [file(p, large)], request: (p) => content(p, large) },
  ],
};
