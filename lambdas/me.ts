import { me } from '../api/projects.ts';
import { formatTime } from '../foundations/wire/index.ts';
import { policy } from './http/dialect.ts';
import { endpoint } from './http/endpoint.ts';

/** The service's version, set by the bundler. */
declare const SERVICE_VERSION: string;

/** `GET /me`: whose key the request has, what it allows, until when, and what it may still spend. */
export const handler = endpoint(me, async ({ caller, budget }) => {
  const { user, keyId, expiresAt, grants } = caller;
  // What reads limits needs storage, so it is loaded only where there is the setting.
  const left = process.env.LIMITS ? (await import('./http/limits-left.ts')).limitsLeft(caller, budget) : null;
  return {
    user,
    key_id: keyId,
    expires_at: expiresAt === undefined ? null : formatTime(expiresAt),
    grants: grants.map(({ scope, role }) => ({ resource: scope, role })),
    limits: await left,
    service: { name: policy.service, version: SERVICE_VERSION },
  };
});
