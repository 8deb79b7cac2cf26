import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { me } from '../../../api/projects.ts';
import { allowsAnywhere, type Caller } from '../../../foundations/auth/index.ts';
import type { Rule } from '../../../foundations/redaction/rules.ts';
import type { RequestBudget } from '../../../foundations/storage/index.ts';
import { formatTime, serviceName } from '../../../foundations/wire/index.ts';
import { endpoint } from './endpoint.ts';
import type { limitsLeft } from './limits-left.ts';

/** The service's version, set by the bundler. */
declare const SERVICE_VERSION: string;

const { REDACTION_RULES } = process.env;

/** The rules of redaction; undefined without the setting. They lie beside the bundle. */
const rules =
  REDACTION_RULES === undefined
    ? undefined
    : (JSON.parse(readFileSync(join(__dirname, REDACTION_RULES), 'utf8')) as Rule[]);

/** Who may not read anything learns nothing of patterns either: they may name what nobody should know. */
const rulesFor = ({ grants }: Caller) =>
  rules && allowsAnywhere(grants, 'read') ? { redaction: rules } : undefined;

/** Makes the handler of `GET /me`: who makes the request, what they may do, and until when. */
export const meHandler = (
  left: (caller: Caller, budget: RequestBudget) => Promise<Partial<Awaited<ReturnType<typeof limitsLeft>>>>,
) =>
  endpoint(me, async ({ caller, budget }) => ({
    kind: caller.person ? ('person' as const) : ('key' as const),
    user: caller.user,
    ...(caller.person?.name !== undefined && { name: caller.person.name }),
    key_id: caller.keyId,
    expires_at: caller.expiresAt === undefined ? null : formatTime(caller.expiresAt),
    grants: caller.grants.map(({ scope, role }) => ({ resource: scope, role })),
    ...(await left(caller, budget)),
    ...rulesFor(caller),
    service: { name: serviceName, version: SERVICE_VERSION },
  }));
