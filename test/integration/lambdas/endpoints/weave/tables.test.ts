import { beforeAll, describe, expect, it } from 'vitest';
import { bytesDigest } from '../../../../../core/doors/weave/digest.ts';
import { weaveDoor } from '../../../../../core/doors/weave/index.ts';
import { tableDigest } from '../../../../../core/records/tables/index.ts';
import { runs } from '../../../../support/run/sampling.ts';
import { type SharedService, sharedService, throughWeave } from '../../../../support/service/service.ts';
import { basic } from '../../../security/credentials.ts';

let service: SharedService;
beforeAll(async () => {
  service = throughWeave(await sharedService());
});

const project_id = 'acme/rows';

const call = async (path: string, body: unknown, authorization?: string) => {
  const answer = await service.post(path, body, authorization ? { headers: { authorization } } : {});
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};
const done = async (path: string, body: unknown) => {
  const { status, body: answered } = await call(path, body);
  expect([status, status === 200 ? '' : answered]).toEqual([200, '']);
  return answered;
};

const makeRows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({ n: from + i, text: `row ${from + i}`, score: 1 / (i + 1) }));
const toDigests = (rows: readonly object[]) => rows.map((row) => weaveDoor.digests.ofValue(row as never));
const create = async (rows: readonly object[]) =>
  String((await done('/table/create', { table: { project_id, rows } })).digest);
const query = async (digest: string, more: object = {}) =>
  (await done('/table/query', { project_id, digest, ...more })).rows as {
    digest: string;
    val: { n: number };
    original_index: number;
  }[];

describe('a table', () => {
  it('has its rows in order, with the digests that SDKs compute', async () => {
    const rows = [...makeRows(0, 5), { n: 0, text: 'row 0', score: 1 }];
    const digests = toDigests(rows);
    const made = await done('/table/create', { table: { project_id, rows } });
    expect(made).toEqual({ digest: tableDigest(digests), row_digests: digests });
    const expected = rows.map((val, i) => ({ digest: digests[i], val, original_index: i }));
    expect(await query(String(made.digest))).toEqual(expected);
    expect(await query(String(made.digest), { offset: 2, limit: 3 })).toEqual(expected.slice(2, 5));
    const filter = { row_digests: [digests[0], digests[3], 'A'.repeat(43)] };
    expect(await query(String(made.digest), { filter })).toEqual([expected[0], expected[3], expected[5]]);
    const sort_by = [{ field: 'score', direction: 'asc' }];
    expect((await query(String(made.digest), { sort_by, limit: 2 })).map(({ val }) => val.n)).toEqual([4, 3]);
  });

  it('may be empty, and be made again', async () => {
    for (let i = 0; i < 2; i++) expect(await create([])).toBe(tableDigest([]));
    expect(await query(tableDigest([]))).toEqual([]);
    expect(await done('/table/create_from_digests', { project_id, row_digests: [] })).toEqual({
      digest: tableDigest([]),
    });
  });

  it('is made of chunks that came before, many rows and large ones', async () => {
    const count = runs(600, 1500);
    const rows = makeRows(1000, 1000 + count).map((row) => ({ ...row, more: 'x'.repeat(row.n % 700) }));
    const chunk = count / 3;
    await Promise.all([0, 1, 2].map((at) => create(rows.slice(at * chunk, (at + 1) * chunk))));
    const row_digests = toDigests(rows);
    const { digest } = await done('/table/create_from_digests', { project_id, row_digests });
    expect(digest).toBe(tableDigest(row_digests));
    expect((await query(String(digest))).map(({ val }) => val)).toEqual(rows);
    expect(await query(String(digest), { offset: count - 10, limit: 1 })).toMatchObject([
      { val: rows[count - 10] },
    ]);
    const bytes = rows.reduce((sum, row) => sum + Buffer.byteLength(JSON.stringify(row)), 0);
    const digests = [digest, '0'.repeat(64)];
    expect(await done('/table/query_stats', { project_id, digest })).toEqual({ count });
    expect(
      await done('/table/query_stats_batch', { project_id, digests, include_storage_size: true }),
    ).toEqual({ tables: [{ digest, count, storage_size_bytes: bytes }] });
  });

  it('becomes another by changes, and stays', async () => {
    const rows = makeRows(0, 4);
    const base_digest = await create(rows);
    const [added] = makeRows(70, 71);
    const updates = [{ append: { row: added } }, { pop: { index: 0 } }, { insert: { index: 1, row: added } }];
    const { digest, updated_row_digests } = await done('/table/update', { project_id, base_digest, updates });
    expect((await query(String(digest))).map(({ val }) => val)).toEqual([
      rows[1],
      added,
      rows[2],
      rows[3],
      added,
    ]);
    expect(updated_row_digests).toEqual(toDigests([added ?? {}, rows[0] ?? {}, added ?? {}]));
    expect((await query(base_digest)).map(({ val }) => val)).toEqual(rows);
  });

  it('keeps numbers as they were written', async () => {
    const body = `{"table":{"project_id":"${project_id}","rows":[{"a":1.0,"b":12345678901234567890}]}}`;
    const headers = { authorization: basic(service.key, 'api'), 'content-type': 'application/json' };
    const answer = await fetch(`${service.url}/table/create`, { method: 'POST', headers, body });
    const { digest } = (await answer.json()) as { digest: string };
    const rows = await (await service.post('/table/query', { project_id, digest })).text();
    expect(rows).toContain('"val":{"a":1.0,"b":12345678901234567890}');
  });

  it.each([
    ['/table/query', { digest: '0'.repeat(64) }, 404],
    ['/table/query', { digest: 'no digest' }, 422],
    ['/table/query_stats', { digest: '0'.repeat(64) }, 404],
    ['/table/update', { base_digest: '0'.repeat(64), updates: [] }, 404],
    ['/table/update', { base_digest: tableDigest([]), updates: [{ pop: { index: 0 } }] }, 422],
    ['/table/update', { base_digest: tableDigest([]), updates: [{ shuffle: {} }] }, 422],
    ['/table/create_from_digests', { row_digests: ['A'.repeat(43)] }, 404],
    ['/table/create_from_digests', { row_digests: [], expected_digest: '0' }, 409],
  ])('is refused by %s for %j with %i', async (path, body, status) => {
    await create([]);
    expect((await call(path, { project_id, ...body })).status).toBe(status);
  });
});

describe('the rows of a dataset', () => {
  it('are what refs lead to, in refs and in queries', async () => {
    const rows = makeRows(0, 3);
    const table = await create(rows);
    const val = { _type: 'Dataset', rows: `weave:///${project_id}/table/${table}` };
    const { digest } = await done('/obj/create', { obj: { project_id, object_id: 'ds', val } });
    expect(digest).toBe(weaveDoor.digests.ofValue(val));
    const ref = (row: string, more = '') =>
      `weave:///${project_id}/object/ds:${digest}/attr/rows/id/${row}${more}`;
    const [, second = ''] = toDigests(rows);
    const refs = [ref(second), ref(second, '/attr/text'), ref('A'.repeat(43))];
    expect(await done('/refs/read_batch', { refs })).toEqual({ vals: [rows[1], 'row 1', null] });
    await done('/call/start', {
      start: {
        project_id,
        id: 'c',
        op_name: 'op',
        started_at: '2026-10-01T00:00:00Z',
        inputs: { row: ref(second) },
      },
    });
    const answer = await service.post('/calls/stream_query', {
      project_id,
      expand_columns: ['inputs.row'],
      query: { $expr: { $eq: [{ $getField: 'inputs.row.n' }, { $literal: 1 }] } },
    });
    expect(JSON.parse(await answer.text())).toMatchObject({ inputs: { row: rows[1] } });
  });

  it('are expanded to count calls', async () => {
    const rows = makeRows(0, 3);
    const val = { _type: 'Dataset', rows: `weave:///${project_id}/table/${await create(rows)}` };
    const { digest } = await done('/obj/create', { obj: { project_id, object_id: 'counted', val } });
    const row = `weave:///${project_id}/object/counted:${digest}/attr/rows/id/${toDigests(rows)[1]}`;
    await done('/call/start', {
      start: {
        project_id,
        id: 'counted',
        op_name: 'counted',
        started_at: '2026-10-01T00:00:00Z',
        inputs: { row },
      },
    });
    const selected = (n: number) => ({
      project_id,
      filter: { op_names: ['counted'] },
      expand_columns: ['inputs.row'],
      query: { $expr: { $eq: [{ $getField: 'inputs.row.n' }, { $literal: n }] } },
    });
    expect(await done('/calls/query_stats', selected(1))).toMatchObject({ count: 1 });
    expect(await done('/calls/query_stats', selected(2))).toMatchObject({ count: 0 });
  });
});

const form = (parts: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>): FormData => {
  const data = new FormData();
  for (const [name, part] of Object.entries(parts))
    data.append(name, typeof part === 'string' ? part : new Blob([part]));
  return data;
};
const upload = (body: FormData | string, headers: Record<string, string> = {}) =>
  fetch(`${service.url}/file/create`, {
    method: 'POST',
    headers: { authorization: basic(service.key, 'api'), ...headers },
    body,
  });
const content = (digest: string) => service.post('/file/content', { project_id, digest });

describe('a file', () => {
  it.each([0, 5, 3_000_000])('of %i bytes comes back, byte by byte', async (size) => {
    const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 7919) >> (i % 11));
    for (let i = 0; i < 2; i++) {
      const answer = await upload(form({ project_id, file: bytes }));
      expect([answer.status, await answer.json()]).toEqual([200, { digest: bytesDigest(bytes) }]);
    }
    const answer = await content(bytesDigest(bytes));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('is not there unless it was stored, and not what its client expects if it is another', async () => {
    expect((await content('A'.repeat(43))).status).toBe(404);
    expect((await upload(form({ project_id, file: new Uint8Array(3), expected_digest: 'A' }))).status).toBe(
      409,
    );
  });

  it('is refused with a 413 that says so above 4.4 MB', async () => {
    const answer = await upload(form({ project_id, file: new Uint8Array(4_800_000) }));
    expect([answer.status, await answer.text()]).toEqual([413, expect.stringContaining('4.4 MB')]);
  });

  const multipart = { 'content-type': 'multipart/form-data; boundary=b' };
  const part = (name: string, text: string) =>
    `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
  it.each([
    ['no form', '{}', { 'content-type': 'application/json' }, 415],
    ['no boundary', part('project_id', project_id), { 'content-type': 'multipart/form-data' }, 415],
    [
      'another boundary',
      `${part('file', 'x')}--b--`,
      { 'content-type': 'multipart/form-data; boundary=c' },
      422,
    ],
    ['an empty form', '', multipart, 422],
    ['no end', part('project_id', project_id), multipart, 422],
    ['a part that is cut off', '--b\r\ncontent-disposition: form-data; na', multipart, 422],
    ['no file', `${part('project_id', project_id)}--b--\r\n`, multipart, 422],
    ['a bad project', `${part('project_id', 'shop')}${part('file', 'x')}--b--\r\n`, multipart, 422],
  ])('is refused with %s', async (_, body, headers, status) => {
    const answer = await upload(body, headers);
    expect([answer.status, await answer.json()]).toEqual([status, { detail: expect.anything() }]);
  });
});

const list = async (path: '/aliases' | '/tags', key = service.key) => {
  const url = `${service.url}${path}?project_id=${encodeURIComponent(project_id)}`;
  const answer = await fetch(url, {
    headers: { authorization: basic(key, key === service.key ? 'api' : 'bob') },
  });
  return { status: answer.status, body: await answer.json() };
};
const change = (method: 'PUT' | 'POST', path: string, body: object) =>
  service.post(path, { project_id, ...body }, { method });

describe('tags and aliases', () => {
  it('that are too long for a key are refused, and lead nowhere', async () => {
    await done('/obj/create', { obj: { project_id, object_id: 'longest', val: { v: 1 } } });
    const long = '𝄞'.repeat(256);
    for (const [path, labels] of [
      ['/objs/longest/aliases', { digest: 'v0', aliases: [long] }],
      ['/objs/longest/versions/v0/tags', { tags: [long] }],
    ] as const)
      expect((await change('PUT', path, labels)).status).toBe(422);
    const refs = [long, 'x'.repeat(2000)].map((name) => `weave:///${project_id}/object/longest:${name}`);
    expect(await done('/refs/read_batch', { refs })).toEqual({ vals: [null, null] });
  });

  it('name versions, move, are listed, and go with what they are on', async () => {
    const make = async (val: object) =>
      String((await done('/obj/create', { obj: { project_id, object_id: 'model', val } })).digest);
    const first = await make({ v: 1 });
    const second = await make({ v: 2 });
    const aliases = { digest: first, aliases: ['prod', 'stable'] };
    expect((await change('PUT', '/objs/model/aliases', aliases)).status).toBe(200);
    expect((await change('PUT', '/objs/model/aliases', { digest: 'v1', aliases: ['prod'] })).status).toBe(
      200,
    );
    expect((await change('PUT', `/objs/model/versions/${first}/tags`, { tags: ['b', 'a'] })).status).toBe(
      200,
    );
    expect(await list('/aliases')).toEqual({ status: 200, body: { aliases: ['prod', 'stable'] } });
    expect(await list('/tags')).toEqual({ status: 200, body: { tags: ['a', 'b'] } });
    const read = async (digest: string, more: object = {}) =>
      (await done('/obj/read', { project_id, object_id: 'model', digest, ...more })).obj;
    expect(await read('prod')).toMatchObject({ digest: second });
    const asked = { include_tags_and_aliases: true, metadata_only: true };
    expect(await read('stable', asked)).toMatchObject({
      digest: first,
      tags: ['a', 'b'],
      aliases: ['stable'],
      val: {},
    });
    const refs = [`weave:///${project_id}/object/model:prod/attr/v`];
    expect(await done('/refs/read_batch', { refs })).toEqual({ vals: [2] });
    const query = { project_id, filter: { object_ids: ['model'] }, include_tags_and_aliases: true };
    expect((await done('/objs/query', query)).objs).toMatchObject([
      { tags: ['a', 'b'], aliases: ['stable'] },
      { tags: [], aliases: ['latest', 'prod'] },
    ]);
    await change('POST', '/objs/model/aliases/remove', { aliases: ['prod', 'none'] });
    await change('POST', `/objs/model/versions/${first}/tags/remove`, { tags: ['a'] });
    expect([await list('/aliases'), await list('/tags')]).toMatchObject([
      { body: { aliases: ['stable'] } },
      { body: { tags: ['b'] } },
    ]);
    await done('/obj/delete', { project_id, object_id: 'model', digests: [first] });
    expect([await list('/aliases'), await list('/tags')]).toMatchObject([
      { body: { aliases: [] } },
      { body: { tags: [] } },
    ]);
  });

  it('go with a version that is deleted by its alias, and do not return with its value', async () => {
    const name = { project_id, object_id: 'aliased' };
    for (const v of [1, 2]) await done('/obj/create', { obj: { ...name, val: { v } } });
    await change('PUT', '/objs/aliased/aliases', { digest: 'v0', aliases: ['best', 'first'] });
    await change('PUT', '/objs/aliased/versions/v0/tags', { tags: ['t0'] });
    expect(await done('/obj/delete', { ...name, digests: ['best'] })).toEqual({ num_deleted: 1 });
    expect((await list('/aliases')).body).toEqual({ aliases: [] });
    await done('/obj/create', { obj: { ...name, val: { v: 1 } } });
    const asked = { digest: 'v2', include_tags_and_aliases: true };
    expect((await done('/obj/read', { ...name, ...asked })).obj).toMatchObject({
      tags: [],
      aliases: ['latest'],
    });
    await done('/obj/delete', name);
  });

  it.each([
    ['PUT', '/objs/none/aliases', { digest: 'latest', aliases: ['a'] }, 404],
    ['PUT', '/objs/none/versions/v0/tags', { tags: ['a'] }, 404],
    ['PUT', '/objs/none/aliases', { digest: 'latest', aliases: ['latest'] }, 422],
    ['PUT', '/objs/none/aliases', { digest: 'latest', aliases: ['v3'] }, 422],
    ['POST', '/objs/none/aliases/remove', {}, 422],
  ] as const)('are refused by %s %s with %j and %i', async (method, path, body, status) => {
    expect((await change(method, path, body)).status).toBe(status);
  });
});
