import { keysCreate } from '../../../api/people.ts';
import { createKey } from '../../../core/records/people.ts';
import type { Grantee } from '../../../foundations/auth/index.ts';
import { invalid } from '../../../foundations/wire/index.ts';
import { work } from '../../common/http/endpoint.ts';
import { unpriced } from '../../common/http/limits.ts';
import { asking, toKeyFields } from '../../common/http/people.ts';

type Body = Parameters<typeof keysCreate.projects>[0];

const refuseLimits = (fields: Readonly<Record<string, number | null>>): void => {
  const msg = 'should be left out: an operator turns spending limits on with the setting limits';
  const given = Object.keys(fields).filter((name) => fields[name] !== null);
  if (given.length > 0 && unpriced === undefined)
    throw invalid(...given.map((name) => ({ loc: ['body', name], msg, type: 'value_error' })));
};

const toGrantee = ({ user, grants, expiresAt, usdPerDay, usdPerMonth }: Body): Grantee => ({
  user,
  grants,
  ...(expiresAt !== null && { expiresAt }),
  ...((usdPerDay ?? usdPerMonth) !== null && {
    limits: {
      ...(usdPerDay !== null && { usdPerDay }),
      ...(usdPerMonth !== null && { usdPerMonth }),
    },
  }),
});

/** `POST /keys/create`: makes a key, and answers it this once. */
export const handler = work(keysCreate, async (request) => {
  const { body } = request;
  refuseLimits({ usd_per_day: body.usdPerDay, usd_per_month: body.usdPerMonth });
  const { key, record } = await createKey(asking(request), toGrantee(body));
  return { key, ...toKeyFields(record, record.grants) };
});
