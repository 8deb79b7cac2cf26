import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { vi } from 'vitest';
import {
  formatKey,
  type Grant,
  type Key,
  newRecord,
  parseGrant,
  putKey,
  revokeKey,
} from '../../../foundations/auth/index.ts';
import { startContainer } from '../service/container.ts';
import type { Stores } from '../service/stores.ts';
import { writtenAt } from './golden.ts';

/** What the authorizer made of a key: its answer, or the message of its error. */
export interface Authorization {
  readonly name: string;
  readonly answer?: unknown;
  readonly error?: string;
}

const makeKey = (id: string, digit: string): Key => ({ id, secret: digit.repeat(64) });

const keys = {
  active: makeKey('active0000000000', 'a'),
  expiring: makeKey('expiring00000000', 'b'),
  expired: makeKey('expired000000000', 'c'),
  revoked: makeKey('revoked000000000', 'd'),
} as const;

const micros = (day: number): number => (writtenAt + day * 86_400_000) * 1000;

const grants = (...texts: string[]): Grant[] => texts.flatMap((text) => parseGrant(text) ?? []);

/** Writes keys of every state that a key can be in ten days later. */
export const writeKeys = async ({ dynamodb, keysTable }: Stores): Promise<void> => {
  const some = grants('*:inference', 'acme/*:write', 'acme/shop:read');
  const table = { client: dynamodb, name: keysTable };
  await putKey(table, newRecord(keys.active, { user: 'ádà ☃', grants: some }, micros(0)));
  const until = (day: number) => ({ user: 'bob', grants: grants('*:inference'), expiresAt: micros(day) });
  await putKey(table, newRecord(keys.expiring, until(1000), micros(0) + 1));
  await putKey(table, newRecord(keys.expired, until(5), micros(0) + 2));
  await putKey(table, newRecord(keys.revoked, { user: 'eve', grants: some }, micros(0) + 3));
  await revokeKey(table, keys.revoked.id, micros(1));
};

const makeEvent = (authorization: string) =>
  ({
    type: 'REQUEST',
    methodArn: 'arn:aws:execute-api:us-east-1:123456789012:api/v1/POST/call/read',
    resource: '/call/read',
    multiValueHeaders: { Authorization: [authorization] },
    requestContext: { requestId: 'request' },
  }) as unknown as APIGatewayRequestAuthorizerEvent;

/** Asks the authorizer about those keys, ten days after they were written. */
export const authorizeKeys = async ({ keysTable }: Stores): Promise<Authorization[]> => {
  vi.stubEnv('KEYS_TABLE', keysTable);
  const load = startContainer();
  const { handler } = await load<typeof import('../../../lambdas/background/authorizer.ts')>(
    'lambdas/background/authorizer.ts',
  );
  vi.useFakeTimers({ toFake: ['Date'], now: micros(10) / 1000 });
  const authorizations: Authorization[] = [];
  for (const [name, key] of Object.entries(keys)) {
    const header = `Basic ${Buffer.from(`api:${formatKey(key)}`).toString('base64')}`;
    const answer = handler(makeEvent(header), { awsRequestId: 'request' }).then(
      (result) => ({ name, answer: result }),
      (error: Error) => ({ name, error: error.message }),
    );
    authorizations.push(await answer);
  }
  vi.useRealTimers();
  return authorizations;
};
