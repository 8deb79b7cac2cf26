import { me } from '../api/projects.ts';
import { formatTime } from '../foundations/wire/index.ts';
import { policy } from './http/dialect.ts';
import { endpoint } from './http/endpoint.ts';

/** The service's version, set by the bundler. */
declare const SERVICE_VERSION: string;

/** `GET /me`: whose key the request has, what it allows, and until when. */
export const handler = endpoint(me, ({ caller: { user, keyId, expiresAt, grants } }) => ({
  user,
  key_id: keyId,
  expires_at: expiresAt === undefined ? null : formatTime(expiresAt),
  grants: grants.map(({ scope, role }) => ({ resource: scope, role })),
  service: { name: policy.service, version: SERVICE_VERSION },
}));
