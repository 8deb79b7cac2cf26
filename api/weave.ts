import * as z from 'zod/mini';
import {
  endpoint,
  fixed,
  longAnswer,
  type OpenRoute,
  openEndpoint,
  passThrough,
  type Route,
} from './endpoint.ts';
import { otelTraces } from './otel.ts';
import { health, ofThePage } from './service.ts';
import { serverInfoPath, weavePath } from './weave-paths.ts';

/*
 * The door of Weave's SDKs: all that they call, below `/weave`. One function answers nearly all of it, by
 * the work of our own endpoints; `core/doors/weave` has what differs. Weave describes it, so it is no part
 * of our document.
 */

const undocumented = { tag: 'weave', operations: [] } as const;

/** A route of the door's function. Each path below it has a role and projects of its own. */
const door = <const Path extends `/${string}`>(method: 'GET' | 'POST' | 'PUT', path: Path) =>
  endpoint({
    ...undocumented,
    path,
    method,
    handler: 'weave',
    shape: longAnswer,
    stores: {
      calls: 'serve',
      payloads: 'delete',
      objects: 'serve',
      files: 'serve',
      tables: 'update',
      costs: 'serve',
      feedback: 'serve',
      bookkeeping: 'serve',
      audit: 'append',
    },
    evaluations: true,
    projects: () => [],
    answer: () => z.unknown(),
  });

/** A completion, which takes upstreams, and so a function of its own. */
const completions = endpoint({
  ...undocumented,
  path: `${weavePath}/completions/create`,
  handler: 'weave-completions',
  role: 'inference',
  shape: passThrough,
  stores: { calls: 'record', payloads: 'write', objects: 'read', bookkeeping: 'note' },
  upstreams: 'ask',
  limits: 'hold',
  projects: () => [],
  answer: () => z.unknown(),
});

/** `/otel/v1/traces` where Weave's SDKs look for it, from 0.54 on. */
const agentsOtelTraces = {
  ...otelTraces,
  ...undocumented,
  path: `${weavePath}/agents/otel/v1/traces`,
} as const;

/** Whether the service is up, and which SDKs it works with: every version of theirs may go on. */
const open = (path: `/${string}`): OpenRoute => ({
  ...openEndpoint({
    ...health,
    path,
    shape: fixed,
    tag: 'weave',
    name: 'Weave',
    summary: '',
    description: '',
    examples: {},
  }),
  operations: [],
});

/**
 * The links that the SDKs print, of a call, and of a project with what is in it. They lead to the page.
 * The npm SDK keeps of `WANDB_BASE_URL` the host alone, so they are at the root, too.
 */
const links = [
  ofThePage('/{entity}/{project}/weave'),
  ofThePage('/{entity}/{project}/weave/{proxy+}'),
  ofThePage('/{entity}/{project}/r/call/{id}'),
  ofThePage(`${weavePath}/{proxy+}`),
];

/** The routes of the door. */
export const weaveRoutes: readonly Route[] = [
  door('POST', `${weavePath}/{proxy+}`),
  door('PUT', `${weavePath}/{proxy+}`),
  door('GET', `${weavePath}/aliases`),
  door('GET', `${weavePath}/tags`),
  // As the links are.
  door('POST', '/graphql'),
  completions,
  agentsOtelTraces,
  open(serverInfoPath),
  open(`${weavePath}/health`),
  ...links,
];
