import { createHash } from 'node:crypto';
import { formatToken } from '../../../api/shared/sharing.ts';
import type { Sent } from '../service/in-process.ts';
import { type Fixture, missing, price } from './fixture.ts';
import { calls, forBucket, noise, report, type Scenario, start } from './scenario.ts';

/** The secret of a link, which follows from its name. */
const secretOf = (link: string): Buffer => createHash('sha256').update(`secret of ${link}`).digest();

/** The token of a link. */
export const tokenOf = (project: string, link: string, secret = secretOf(link)): string =>
  formatToken([project, link, secret.toString('base64url')]);

/** An object of a class, as it is made. */
const makeObject = (project: string, objectId: string, val: object): Sent => ({
  path: '/obj/create',
  body: { obj: { project_id: project, object_id: objectId, val } },
});

/** Allows a project public links, or forbids them. */
export const allowLinks = (project: string, allowed = true): Sent =>
  makeObject(project, 'sharing', {
    _type: 'Sharing',
    public_links: allowed,
    saved_at: new Date().toISOString(),
  });

/** A time so many days from now. */
export const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

/** The value of a link to a trace. */
export const linkValue = (link: string, traceId: string, fields: object = {}) => ({
  _type: 'PublicLink',
  trace_id: traceId,
  expires_at: inDays(7),
  digest: createHash('sha256').update(secretOf(link)).digest('base64url'),
  ...fields,
});

/** Makes a link to a trace. */
export const makeLink = (project: string, link: string, traceId: string, fields: object = {}): Sent =>
  makeObject(project, link, linkValue(link, traceId, fields));

/** Reads a trace by a token. */
export const readShared = (token: string): Sent => ({ path: '/shared/read', body: { token } });

const whole: Scenario = {
  name: 'a trace with payloads in segments and in the bucket, and prices',
  before: (p) => [
    report(...calls(p, 40), start(p, 'large', { inputs: { q: noise(forBucket) } })),
    // An end that comes by itself is looked up.
    report({ mode: 'end', req: { end: { project_id: p, id: 'large', ended_at: '2026-10-01T00:00:09Z' } } }),
    { path: '/cost/create', body: { project_id: p, costs: { 'gpt-4o': price } } },
    allowLinks(p),
    makeLink(p, 'link', 'trace'),
  ],
  request: (p) => readShared(tokenOf(p, 'link')),
};

/** The routes by a link. */
export const sharingFixtures = {
  '/shared/read': {
    permitted: [
      'calls: BatchGetItem',
      'calls/index/by_trace: Query',
      'bucket/segments/*: GetObject',
      'bucket: ListBucket',
      'objects: BatchGetItem',
      'costs: Query',
    ],
    body: (p) => ({ token: tokenOf(p, 'link') }),
    ...missing('token', 'this link does not work: it has expired, was revoked, or never was'),
    scenarios: [whole],
  },
} as const satisfies Readonly<Record<string, Fixture>>;
