import { beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../../api/routes.ts';
import type { JsonObject, JsonValue } from '../../../core/foundations/wire/index.ts';
import { type SharedService, sharedService } from '../../support/service.ts';
import { basic, bearer, keyMaker } from './credentials.ts';
import { about, probes } from './probes.ts';
import {
  at,
  callRef,
  contentsOf,
  everyInclude,
  feedbackOf,
  fill,
  type Names,
  nobodys,
  nothing,
  objectRef,
  seen,
  startOf,
  theirs,
} from './tenants.ts';

let service: SharedService;
let ourKey: string;
let theirKey: string;
let them: Names;
/** What their project holds, before anybody else does anything. */
let contents: string[];

const send = (path: string, body: JsonValue, key = ourKey): Promise<Response> =>
  service.post(path, body, { headers: { authorization: basic(key), 'accept-encoding': 'identity' } });

/** Sends what is expected to succeed. */
const done = async (path: string, body: JsonValue, key = ourKey): Promise<JsonObject> => {
  const answer = await send(path, body, key);
  const text = await answer.text();
  expect([path, answer.status, text]).toEqual([path, 200, expect.anything()]);
  return text.startsWith('{') ? (JSON.parse(text.split('\n')[0] ?? '') as JsonObject) : {};
};

beforeAll(async () => {
  service = await sharedService();
  using keys = keyMaker(service);
  ourKey = await keys.granted('acme/*:write acme/*:inference');
  theirKey = await keys.granted('umbrella/lab:write umbrella/lab:inference');
  them = await fill((path, body) => done(path, body, theirKey), theirs);
  contents = await contentsOf(service, theirs);
});

let projects = 0;
/** A project of ours that holds nothing yet, with a name as long as that of all others. */
const newProject = (): string => `acme/${String(projects++).padStart(4, '0')}`;

it('every route that touches a store is probed', () => {
  // What the key may read is all that /projects/query looks at: its own test has what it answers.
  const probed = routes.filter(
    ({ path, stores, scheme }) =>
      scheme !== 'bearer' &&
      scheme !== 'none' &&
      Object.keys(stores).length > 0 &&
      path !== '/projects/query',
  );
  expect(new Set(probes.map(([path]) => path))).toEqual(new Set(probed.map(({ path }) => path)));
});

describe('the other tenant’s data', () => {
  it.each(probes)('makes %s answer about %s as about nothing', async (path, _, body) => {
    const ask = async (names: Names) => {
      const project = newProject();
      return seen(await send(path, about(project, path, body(names))), [project, ...Object.values(names)]);
    };
    const ofTheirs = await ask(them);
    expect(ofTheirs).toEqual(await ask(nothing));
    expect(ofTheirs.body).not.toContain('secret');
  });

  it.each(probes)(
    'makes %s, about %s in their project, answer as in one that does not exist',
    async (path, _, body) => {
      const ask = async (project: string, names: Names) =>
        seen(await send(path, about(project, path, body(names))), [project, theirs, ...Object.values(names)]);
      const inTheirs = await ask(theirs, them);
      expect(inTheirs).toEqual(await ask(nobodys, nothing));
      expect(inTheirs.status).toBe(403);
    },
  );

  it('is not used for inference, whether it exists or not', async () => {
    const ask = async (project: string) => {
      const headers = { authorization: bearer(ourKey), 'OpenAI-Project': project };
      const body = { model: 'm', messages: [] };
      return seen(await service.post('/inference/v1/chat/completions', body, { headers }), [project]);
    };
    const inTheirs = await ask(theirs);
    expect(inTheirs).toEqual(await ask(nobodys));
    expect(inTheirs.status).toBe(403);
  });

  it('is unchanged afterwards', async () => {
    expect(await contentsOf(service, theirs)).toEqual(contents);
  });
});

describe('a call of ours', () => {
  it('does not join the trace of a parent of theirs', async () => {
    const project = newProject();
    const { trace_id } = await done('/call/start', {
      start: startOf(project, 'c', { parent_id: them.call }),
    });
    expect(trace_id).not.toBe(them.trace);
    const batch = [{ mode: 'start', req: { start: startOf(project, 'd', { parent_id: them.child }) } }];
    const { res } = await done('/call/upsert_batch', { batch });
    expect(JSON.stringify(res)).not.toContain(them.trace);
  });

  it('does not show feedback that they put on it in their own project', async () => {
    const project = newProject();
    await done('/call/start', { start: startOf(project, 'c') });
    await done(
      '/feedback/create',
      feedbackOf(theirs, { id: project, svc_ref: callRef(project, 'c') }),
      theirKey,
    );
    const { call } = await done('/call/read', { project_id: project, id: 'c', ...everyInclude });
    expect(JSON.stringify(call)).toContain('"feedback":[]');
    expect(await (await send('/feedback/query', { project_id: project })).text()).toBe('{"result":[]}\n');
  });

  it('does not become more expensive by their price', async () => {
    const project = newProject();
    const summary = { usage: { 'm-1': { prompt_tokens: 1 } } };
    await done('/call/start', { start: startOf(project, 'c') });
    await done('/call/end', { end: { project_id: project, id: 'c', ended_at: at(1), summary } });
    const { call } = await done('/call/read', { project_id: project, id: 'c', include_costs: true });
    expect(JSON.stringify(call)).toContain('"costs":{}');
  });

  it.each([
    ['answered', {}],
    ['filtered by', { query: { $expr: { $eq: [{ $getField: 'inputs.p.text' }, { $literal: 'secret' }] } } }],
    ['sorted by', { sort_by: [{ field: 'inputs.p.text', direction: 'desc' }] }],
  ])(
    'with refs into their project, expanded and %s, looks like one whose refs are dangling',
    async (_, how) => {
      const ask = async (names: Names) => {
        const project = newProject();
        const refs = ['latest', 'v0', names.digest].map((version) =>
          objectRef(theirs, names.object, version),
        );
        for (const [i, p] of refs.entries())
          await done('/call/start', { start: startOf(project, `c${i}`, { trace_id: 't', inputs: { p } }) });
        const body = { project_id: project, expand_columns: ['inputs.p'], ...how };
        return seen(await send('/calls/stream_query', body), [project, ...Object.values(names)]);
      };
      const ofTheirs = await ask(them);
      expect(ofTheirs).toEqual(await ask(nothing));
      expect(ofTheirs.status).toBe(200);
      expect(ofTheirs.body).not.toContain('secret');
    },
  );
});

describe('a request that names their project beside ours', () => {
  const mixed: readonly [path: string, body: (project: string) => JsonObject][] = [
    [
      '/call/upsert_batch',
      (project) => ({
        batch: [project, theirs].map((of) => ({ mode: 'start', req: { start: startOf(of, 'mixed') } })),
      }),
    ],
    [
      '/feedback/batch/create',
      (project) => ({ batch: [project, theirs].map((of) => feedbackOf(of, { id: 'mixed' })) }),
    ],
    [
      '/refs/read_batch',
      (project) => ({ refs: [project, theirs].map((of) => objectRef(of, them.object, 'latest')) }),
    ],
  ];

  it.each(mixed)('to %s is refused, and nothing of it is stored', async (path, body) => {
    const project = newProject();
    const empty = await contentsOf(service, project);
    expect((await send(path, body(project))).status).toBe(403);
    expect(await contentsOf(service, project)).toEqual(empty);
    expect((await contentsOf(service, theirs)).join()).not.toContain('mixed');
  });
});
