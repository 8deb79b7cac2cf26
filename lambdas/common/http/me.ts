import { me } from '../../../api/projects.ts';
import type { Caller } from '../../../foundations/auth/index.ts';
import type { RequestBudget } from '../../../foundations/storage/index.ts';
import { formatTime, serviceName } from '../../../foundations/wire/index.ts';
import { endpoint } from './endpoint.ts';
import type { limitsLeft } from './limits-left.ts';

/** The service's version, set by the bundler. */
declare const SERVICE_VERSION: string;

/** Makes the handler of `GET /me`: whose key the request has, what it allows, and until when. */
export const meHandler = (
  left: (caller: Caller, budget: RequestBudget) => Promise<Partial<Awaited<ReturnType<typeof limitsLeft>>>>,
) =>
  endpoint(me, async ({ caller, budget }) => ({
    user: caller.user,
    key_id: caller.keyId,
    expires_at: caller.expiresAt === undefined ? null : formatTime(caller.expiresAt),
    grants: caller.grants.map(({ scope, role }) => ({ resource: scope, role })),
    ...(await left(caller, budget)),
    service: { name: serviceName, version: SERVICE_VERSION },
  }));
