import pMap from 'p-map';
import { beforeAll, describe, expect, it } from 'vitest';
import { isKeyed, type KeyedRoute } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import { weaveDoor } from '../../../core/doors/weave/index.ts';
import type { JsonObject, JsonValue } from '../../../foundations/wire/index.ts';
import {
  at,
  callRef,
  everyInclude,
  makeFeedback,
  makeStart,
  type Names,
  objectRef,
} from '../../support/endpoints/fixture.ts';
import { doorRoutes, getFixture } from '../../support/endpoints/index.ts';
import { throughDoor } from '../../support/endpoints/scenario.ts';
import { filling, fillingThroughDoor, getNames, nothing } from '../../support/endpoints/tenants.ts';
import { type Answer, type Sent, toBytes } from '../../support/service/in-process.ts';
import { type SharedService, sharedService } from '../../support/service/service.ts';
import { asking, seen } from './asking.ts';
import { basic, bearer, keyMaker } from './credentials.ts';

/** The doors that data of theirs come in by. */
type DoorName = 'own' | 'weave';

/** Theirs, of which we are to learn nothing, by the door. */
const theirProjects: Readonly<Record<DoorName, string>> = { own: 'umbrella/lab', weave: 'umbrella/lob' };
const theirs = theirProjects.own;
/** As long as theirs, and of nobody. */
const nobodys = 'umbrella/xyz';

/** A project of theirs, as one of the doors sees it. */
interface World {
  readonly theirs: string;
  readonly service: SharedService;
  readonly ourKey: string;
  readonly theirKey: string;
  readonly them: Names;
  /** What their project holds, before anybody else does anything. */
  readonly contents: readonly string[];
}

const sendTo = (
  { service, ourKey }: Pick<World, 'service' | 'ourKey'>,
  { path, method, body, headers }: Sent,
  key = ourKey,
): Promise<Response> =>
  service.post(path, undefined, {
    headers: { authorization: basic(key), 'accept-encoding': 'identity', ...headers },
    ...(method && { method }),
    body: method === 'GET' ? null : new Uint8Array(toBytes({ path, body })),
  });

/** Sends what is expected to succeed, and gives its answer. */
const succeed = async (
  world: Pick<World, 'service' | 'ourKey'>,
  sent: Sent,
  key?: string,
): Promise<Answer> => {
  const answer = await sendTo(world, sent, key);
  const text = await answer.text();
  expect([sent.path, answer.status, text]).toEqual([sent.path, 200, expect.anything()]);
  return { status: answer.status, headers: {}, text, complete: true };
};

/** Requests that show all that a project holds. */
const contents: Readonly<Record<DoorName, (project: string, names: Names) => Sent[]>> = {
  own: (project) => [
    { path: '/calls/stream_query', body: { project_id: project, ...everyInclude } },
    ...['/threads/stream_query', '/objs/query', '/feedback/query', '/cost/query'].map((path) => ({
      path,
      body: { project_id: project },
    })),
  ],
  weave: (project, { file, table, object, digest, row }) =>
    [
      ...(['/aliases', '/tags'] as const).map((path) => ({
        path: `${path}?project_id=${encodeURIComponent(project)}`,
        method: 'GET' as const,
        body: {},
      })),
      { path: '/file/content', body: { project_id: project, digest: file } },
      { path: '/table/query', body: { project_id: project, digest: table } },
      {
        path: '/refs/read_batch',
        body: { refs: [`weave:///${project}/object/${object}:${digest}/attr/rows/id/${row}`] },
      },
      { path: '/calls/stream_query', body: { project_id: project } },
    ].map(throughDoor),
};

/** All that a project holds, as its owner sees it. */
const readContents = async (
  door: DoorName,
  world: Pick<World, 'service' | 'ourKey'>,
  project: string,
  names: Names,
  key: string,
): Promise<string[]> =>
  pMap(contents[door](project, names), async (sent) => (await succeed(world, sent, key)).text);

const newWorld = async (door: DoorName): Promise<World> => {
  const service = await sharedService();
  const theirs = theirProjects[door];
  using keys = keyMaker(service);
  const ourKey = await keys.granted('acme/*:write acme/*:inference');
  const theirKey = await keys.granted(`${theirs}:write ${theirs}:inference`);
  const world = { service, ourKey, theirKey };
  const fill = door === 'weave' ? fillingThroughDoor(theirs) : filling(theirs);
  const answers = await pMap(fill, (sent) => succeed(world, sent, theirKey), { concurrency: 1 });
  const them = getNames(answers, door === 'weave' ? weaveDoor.digests : undefined);
  return { ...world, theirs, them, contents: await readContents(door, world, theirs, them, theirKey) };
};

let svc: World;
let weave: World;
beforeAll(async () => {
  svc = await newWorld('own');
  weave = await newWorld('weave');
});

let projects = 0;
/** A project of ours that holds nothing yet, with a name as long as that of all others. */
const newProject = (): string => `acme/${String(projects++).padStart(4, '0')}`;

/** Whether it names what another tenant has. */
const isProbe = ({ request }: ReturnType<typeof asking>[number]): boolean =>
  JSON.stringify(request(theirs, svc.them)) !== JSON.stringify(request(theirs, nothing));

const doors: readonly [door: DoorName, routes: readonly KeyedRoute[], world: () => World][] = [
  ['own', routes.filter(isKeyed), () => svc],
  ['weave', doorRoutes, () => weave],
];

describe.each(doors)('by the door %s, the other tenant’s data', (door, routesOfDoor, world) => {
  // What the key may do is all that these look at: their own tests have what they answer.
  const ofAnyProject = [
    '/projects/query',
    '/keys/revoke',
    '/inference/v1/models',
    '/inference/v1/models/{id+}',
  ];
  const asked = routesOfDoor.filter(({ path }) => !ofAnyProject.includes(path)).flatMap(asking);
  const ofStores = asked.filter(({ scheme }) => scheme !== 'bearer');

  it.each(ofStores)('makes $path answer about $what as about nothing', async ({ request }) => {
    const { them } = world();
    const ask = async (names: Names) => {
      const project = newProject();
      const masked = [project, ...Object.values(them), ...Object.values(nothing)];
      return seen(await sendTo(world(), request(project, names)), masked);
    };
    const ofTheirs = await ask(them);
    expect(ofTheirs).toEqual(await ask(nothing));
    expect(ofTheirs.body).not.toContain('secret');
  });

  it.each(asked)(
    'makes $path, about $what in their project, answer as in one that does not exist',
    async ({ path, request, scheme }) => {
      const { ourKey, them, theirs } = world();
      const authorization = (scheme === 'bearer' ? bearer : basic)(ourKey);
      const ask = async (project: string, names: Names) => {
        const sent = request(project, names);
        const answer = await sendTo(world(), { ...sent, headers: { ...sent.headers, authorization } });
        return seen(answer, [project, theirs, ...Object.values(names)]);
      };
      const inTheirs = await ask(theirs, them);
      expect(inTheirs).toEqual(await ask(nobodys, nothing));
      const { refusedInside } = getFixture(path);
      expect(inTheirs.status).toBe(refusedInside ? 200 : 403);
      if (refusedInside) expect(inTheirs.body).toContain('this key may not');
    },
  );

  it('is unchanged afterwards', async () => {
    const { theirKey, them, theirs, contents: before } = world();
    expect(await readContents(door, world(), theirs, them, theirKey)).toEqual(before);
    expect(before.join()).toContain('secret');
  });

  it('is named by a request to each route, but where a route takes no names', () => {
    const probed = new Set(asked.filter(isProbe).map(({ path }) => path));
    const others = routesOfDoor.map(({ path }) => path).filter((path) => !probed.has(path));
    const namingNothing = routesOfDoor.filter(({ path }) => getFixture(path).namesNothing);
    expect(others, 'add a probe to the fixture of each, or namesNothing').toEqual(
      namingNothing.map(({ path }) => path),
    );
  });
});

const send = (path: string, body: JsonValue & object, key?: string) => sendTo(svc, { path, body }, key);
const done = async (path: string, body: object, key?: string): Promise<JsonObject> =>
  JSON.parse((await succeed(svc, { path, body }, key)).text) as JsonObject;

describe('a call of ours', () => {
  it('does not join the trace of a parent of theirs', async () => {
    const project = newProject();
    const { trace_id } = await done('/call/start', {
      start: makeStart(project, 'c', { parent_id: svc.them.call }),
    });
    expect(trace_id).not.toBe(svc.them.trace);
    const batch = [{ mode: 'start', req: { start: makeStart(project, 'd', { parent_id: svc.them.child }) } }];
    const { res } = await done('/call/upsert_batch', { batch });
    expect(JSON.stringify(res)).not.toContain(svc.them.trace);
  });

  it('does not show feedback that they put on it in their own project', async () => {
    const project = newProject();
    await done('/call/start', { start: makeStart(project, 'c') });
    await done(
      '/feedback/create',
      makeFeedback(theirs, { id: project, svc_ref: callRef(project, 'c') }),
      svc.theirKey,
    );
    const { call } = await done('/call/read', { project_id: project, id: 'c', ...everyInclude });
    expect(JSON.stringify(call)).toContain('"feedback":[]');
    expect(await (await send('/feedback/query', { project_id: project })).text()).toBe('{"result":[]}\n');
  });

  it('does not become more expensive by their price', async () => {
    const project = newProject();
    const summary = { usage: { 'm-1': { prompt_tokens: 1 } } };
    await done('/call/start', { start: makeStart(project, 'c') });
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
          await done('/call/start', { start: makeStart(project, `c${i}`, { trace_id: 't', inputs: { p } }) });
        const body = { project_id: project, expand_columns: ['inputs.p'], ...how };
        return seen(await send('/calls/stream_query', body), [project, ...Object.values(names)]);
      };
      const ofTheirs = await ask(svc.them);
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
        batch: [project, theirs].map((owner) => ({
          mode: 'start',
          req: { start: makeStart(owner, 'mixed') },
        })),
      }),
    ],
    [
      '/feedback/batch/create',
      (project) => ({ batch: [project, theirs].map((owner) => makeFeedback(owner, { id: 'mixed' })) }),
    ],
    [
      '/refs/read_batch',
      (project) => ({ refs: [project, theirs].map((owner) => objectRef(owner, svc.them.object, 'latest')) }),
    ],
  ];

  it.each(mixed)('to %s is refused, and nothing of it is stored', async (path, body) => {
    const project = newProject();
    const { ourKey, theirKey, them } = svc;
    const ofOurs = () => readContents('own', svc, project, them, ourKey);
    const empty = await ofOurs();
    expect((await send(path, body(project))).status).toBe(403);
    expect(await ofOurs()).toEqual(empty);
    expect((await readContents('own', svc, theirs, them, theirKey)).join()).not.toContain('mixed');
  });
});

describe('through Weave’s door, the other tenant’s data', () => {
  const { weave: theirs } = theirProjects;

  it('is not read by an alias of theirs', async () => {
    const ask = async ({ object, alias }: Names) => {
      const project = newProject();
      const body = { project_id: project, object_id: object, digest: alias };
      return seen(await sendTo(weave, { path: '/weave/obj/read', body }), [project, object, alias]);
    };
    expect(await ask(weave.them)).toEqual(await ask(nothing));
  });

  it('is not read through a row of a table of theirs', async () => {
    const ask = async ({ object, digest, row }: Names) => {
      const project = newProject();
      const ref = `weave:///${theirs}/object/${object}:${digest}/attr/rows/id/${row}`;
      const start = makeStart(project, 'c', { inputs: { ref } });
      await sendTo(weave, { path: `/weave/v2/${project}/call/start`, body: { start } });
      const query = { project_id: project, expand_columns: ['inputs.ref'], columns: ['inputs.ref'] };
      const answer = await sendTo(weave, { path: '/weave/calls/stream_query', body: query });
      return seen(answer, [project, object, digest, row]);
    };
    const ofTheirs = await ask(weave.them);
    expect(ofTheirs).toEqual(await ask(nothing));
    expect(ofTheirs.status).toBe(200);
    expect(ofTheirs.body).not.toContain('secret');
  });

  it('is not counted by what a row of a table of theirs says', async () => {
    const project = newProject();
    const ref = `weave:///${theirs}/object/${weave.them.object}:${weave.them.digest}/attr/rows/id/${weave.them.row}`;
    const start = makeStart(project, 'c', { inputs: { ref } });
    await sendTo(weave, { path: `/weave/v2/${project}/call/start`, body: { start } });
    const saysSecret = { $eq: [{ $getField: 'inputs.ref.text' }, { $literal: 'secret' }] };
    const query = { project_id: project, expand_columns: ['inputs.ref'], query: { $expr: saysSecret } };
    const answer = await sendTo(weave, { path: '/weave/calls/query_stats', body: query });
    expect(await answer.json()).toMatchObject({ count: 0 });
  });
});
