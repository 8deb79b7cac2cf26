import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/foundations/wire/index.ts';
import { tableDigest, valueDigest } from '../../../core/foundations/wire/weave-digest.ts';
import type { WeavePath } from '../../../weave/api/routes.ts';
import { routesOf } from '../../../weave/api/routes.ts';
import { type SharedService, sharedService } from '../../support/service.ts';
import { basic, keyMaker } from './credentials.ts';
import { at, seen, startOf, theirs } from './tenants.ts';

/** What theirs is called, or nothing. They are of one length each. */
type Names = Readonly<
  Record<'call' | 'trace' | 'object' | 'version' | 'alias' | 'file' | 'table' | 'row', string>
>;

const secret = { text: 'secret' };
const named = { call: 'call-weav', trace: 'trace-wea', object: 'dataset-w', alias: 'prod-weav' };
const nothing: Names = {
  ...{ call: 'call-none', trace: 'trace-non', object: 'dataset-n', alias: 'prod-none' },
  ...{ version: valueDigest('no version'), file: valueDigest('no file'), row: valueDigest('no row') },
  table: tableDigest([]),
};

interface Probe {
  readonly path: string;
  readonly method?: 'GET' | 'PUT';
  readonly body?: JsonObject | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

const form = (project: string, content: string): Probe => {
  const part = (name: string, text: string) =>
    `--boundary\r\ncontent-disposition: form-data; name=${name}\r\n\r\n${text}\r\n`;
  const parts = part('"project_id"', project) + part('"file"; filename="f"', content);
  return {
    path: '/file/create',
    headers: { 'content-type': 'multipart/form-data; boundary=boundary' },
    body: Buffer.from(`${parts}--boundary--\r\n`),
  };
};

/** The body of a request about a project. */
const about = (project: string, fields: JsonObject = {}): JsonObject => ({ project_id: project, ...fields });

/** Requests about a project of ours that name what is not in it, by their routes. */
const probes: Readonly<
  Record<Exclude<WeavePath, '/server_info' | '/graphql'>, (p: string, names: Names) => Probe>
> = {
  '/file/create': (p) => form(p, 'secret'),
  '/file/content': (p, { file }) => ({ path: '/file/content', body: about(p, { digest: file }) }),
  '/table/create': (p) => ({ path: '/table/create', body: { table: about(p, { rows: [secret] }) } }),
  '/table/create_from_digests': (p, { row }) => ({
    ...{ path: '/table/create_from_digests', body: about(p, { row_digests: [row] }) },
  }),
  '/table/update': (p, { table }) => ({
    ...{ path: '/table/update', body: about(p, { base_digest: table, updates: [] }) },
  }),
  '/table/query': (p, { table }) => ({ path: '/table/query', body: about(p, { digest: table }) }),
  '/table/query_stats': (p, { table }) => ({ path: '/table/query_stats', body: about(p, { digest: table }) }),
  '/table/query_stats_batch': (p, { table }) => ({
    ...{ path: '/table/query_stats_batch', body: about(p, { digests: [table] }) },
  }),
  '/objs/{object_id}/aliases': (p, { object, version }) => ({
    ...{ path: `/objs/${object}/aliases`, method: 'PUT' },
    body: about(p, { digest: version, aliases: ['ours'] }),
  }),
  '/objs/{object_id}/aliases/remove': (p, { object, alias }) => ({
    ...{ path: `/objs/${object}/aliases/remove`, body: about(p, { aliases: [alias] }) },
  }),
  '/objs/{object_id}/versions/{digest}/tags': (p, { object, version }) => ({
    ...{ path: `/objs/${object}/versions/${version}/tags`, method: 'PUT' },
    body: about(p, { tags: ['ours'] }),
  }),
  '/objs/{object_id}/versions/{digest}/tags/remove': (p, { object, version }) => ({
    ...{ path: `/objs/${object}/versions/${version}/tags/remove`, body: about(p, { tags: ['good'] }) },
  }),
  '/aliases': (p) => ({ path: `/aliases?project_id=${encodeURIComponent(p)}`, method: 'GET' }),
  '/tags': (p) => ({ path: `/tags?project_id=${encodeURIComponent(p)}`, method: 'GET' }),
  '/v2/{entity}/{project}/calls/complete': (p, { call, trace }) => ({
    path: `/v2/${p}/calls/complete`,
    body: {
      batch: [{ ...startOf(p, 'c', { trace_id: trace, parent_id: call }), ended_at: at(1) }],
    },
  }),
  '/v2/{entity}/{project}/call/start': (p, { call }) => ({
    ...{ path: `/v2/${p}/call/start`, body: { start: startOf(p, 'c', { parent_id: call }) } },
  }),
  '/v2/{entity}/{project}/call/end': (p, { call }) => ({
    ...{ path: `/v2/${p}/call/end`, body: { end: about(p, { id: call, ended_at: at(1) }) } },
  }),
  '/trace/usage': (p, { trace }) => ({
    ...{ path: '/trace/usage', body: about(p, { filter: { trace_ids: [trace] } }) },
  }),
};

let service: SharedService;
let ourKey: string;
let theirKey: string;
let them: Names;
/** What their project holds, before anybody else does anything. */
let contents: string[];

const send = ({ path, method, body = {}, headers }: Probe, key: string): Promise<Response> =>
  service.post(path, undefined, {
    headers: { ...headers, authorization: basic(key), 'accept-encoding': 'identity' },
    ...(method && { method }),
    body: method === 'GET' ? null : Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
  });

/** Sends what is expected to succeed in their project. */
const done = async (probe: Probe): Promise<string> => {
  const answer = await send(probe, theirKey);
  const text = await answer.text();
  expect([probe.path, answer.status, text]).toEqual([probe.path, 200, expect.anything()]);
  return text;
};

/** All that their project holds of what this dialect adds. */
const contentsOfTheirs = (): Promise<string[]> => {
  const { file, table, object, version, row } = them;
  const ref = `weave:///${theirs}/object/${object}:${version}/attr/rows/id/${row}`;
  return Promise.all(
    [
      probes['/aliases'](theirs, them),
      probes['/tags'](theirs, them),
      { path: '/file/content', body: about(theirs, { digest: file }) },
      { path: '/table/query', body: about(theirs, { digest: table }) },
      { path: '/refs/read_batch', body: { refs: [ref] } },
      { path: '/calls/stream_query', body: about(theirs) },
    ].map(done),
  );
};

beforeAll(async () => {
  service = await sharedService({ dialect: 'weave' });
  using keys = keyMaker(service);
  ourKey = await keys.granted('acme/*:write');
  theirKey = await keys.granted('umbrella/lab:write');
  const { call, trace, object, alias } = named;
  const row = valueDigest(secret);
  const table = tableDigest([row]);
  const { digest: file } = JSON.parse(await done(form(theirs, 'secret')));
  await done(probes['/table/create'](theirs, nothing));
  const val = { rows: `weave:///${theirs}/table/${table}`, ...secret };
  const obj = about(theirs, { object_id: object, val });
  const { digest: version } = JSON.parse(await done({ path: '/obj/create', body: { obj } }));
  await done({
    ...{ path: `/objs/${object}/aliases`, method: 'PUT' },
    body: about(theirs, { digest: version, aliases: [alias] }),
  });
  await done({
    ...{ path: `/objs/${object}/versions/${version}/tags`, method: 'PUT' },
    body: about(theirs, { tags: ['good'] }),
  });
  const start = startOf(theirs, call, { trace_id: trace, inputs: secret });
  await done({ path: `/v2/${theirs}/call/start`, body: { start } });
  them = { ...named, version, file, table, row };
  contents = await contentsOfTheirs();
});

let projects = 0;
/** A project of ours that holds nothing yet, with a name as long as that of all others. */
const newProject = (): string => `acme/w${String(projects++).padStart(4, '0')}`;

it('every route of the dialect that touches a store is probed', () => {
  const probed = routesOf('weave').filter(
    ({ dialect, stores }) => dialect === 'weave' && Object.keys(stores).length > 0,
  );
  expect(Object.keys(probes).sort()).toEqual(probed.map(({ path }) => path).sort());
});

describe('in Weave’s dialect, the other tenant’s data', () => {
  const requests = [
    ...Object.entries(probes),
    [
      '/obj/read, by an alias,',
      (p: string, { object, alias }: Names) => ({
        ...{ path: '/obj/read', body: about(p, { object_id: object, digest: alias }) },
      }),
    ],
  ] as const;

  it.each(requests)('makes %s answer as about nothing', async (_, probe) => {
    const ask = async (names: Names) => {
      const project = newProject();
      const masked = [project, ...Object.values(them), ...Object.values(nothing)];
      return seen(await send(probe(project, names), ourKey), masked);
    };
    expect(await ask(them)).toEqual(await ask(nothing));
  });

  it('is not read through a row of a table of theirs', async () => {
    const ask = async ({ object, version, row }: Names) => {
      const project = newProject();
      const ref = `weave:///${theirs}/object/${object}:${version}/attr/rows/id/${row}`;
      const start = startOf(project, 'c', { inputs: { ref } });
      await send({ path: `/v2/${project}/call/start`, body: { start } }, ourKey);
      const query = about(project, { expand_columns: ['inputs.ref'], columns: ['inputs.ref'] });
      const answer = await send({ path: '/calls/stream_query', body: query }, ourKey);
      return seen(answer, [project, object, version, row]);
    };
    const ofTheirs = await ask(them);
    expect(ofTheirs).toEqual(await ask(nothing));
    expect(ofTheirs.status).toBe(200);
    expect(ofTheirs.body).not.toContain('secret');
  });

  it('is not counted by what a row of a table of theirs says', async () => {
    const project = newProject();
    const ref = `weave:///${theirs}/object/${them.object}:${them.version}/attr/rows/id/${them.row}`;
    const start = startOf(project, 'c', { inputs: { ref } });
    await send({ path: `/v2/${project}/call/start`, body: { start } }, ourKey);
    const saysSecret = { $eq: [{ $getField: 'inputs.ref.text' }, { $literal: 'secret' }] };
    const query = about(project, { expand_columns: ['inputs.ref'], query: { $expr: saysSecret } });
    const answer = await send({ path: '/calls/query_stats', body: query }, ourKey);
    expect(await answer.json()).toMatchObject({ count: 0 });
  });

  it('is unchanged afterwards', async () => {
    expect(await contentsOfTheirs()).toEqual(contents);
    expect(contents.join()).toContain('secret');
  });
});
