/** What a person's token takes of the authorizer's processor time, in a warm container, beside a key. */

import { generateKeyPairSync, sign } from 'node:crypto';
import { authenticate, type KeyStore } from '../../foundations/auth/authenticate.ts';
import {
  formatKey,
  type GrantRecord,
  makeFindPerson,
  makeKey,
  newRecord,
} from '../../foundations/auth/index.ts';
import type { SigningKey } from '../../foundations/auth/issuer.ts';
import { Memory } from '../../foundations/memory.ts';
import type { BenchPart } from '../harness/bench.ts';
import { type Figure, measured } from '../harness/figures.ts';
import { cpuEach } from '../harness/stores.ts';

const rounds = 25;
/** Rounds that are not measured: V8 optimizes in them. */
const warmUps = 10;
const requestsEach = 200;

const issuer = 'https://issuer.example';
const groups = Array.from({ length: 20 }, (_, i) => `group-${i}`);

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token as issuers make them, and the issuer's key. */
const makeToken = (now: number) => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const seconds = Math.floor(now / 1_000_000);
  const claims = {
    iss: issuer,
    aud: 'pennytrace',
    sub: 'subject',
    iat: seconds,
    exp: seconds + 3600,
    groups,
  };
  const person = { scope: 'openid', email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' };
  const signed = `${encode({ alg: 'RS256', kid: 'key', typ: 'at+jwt' })}.${encode({ ...claims, ...person })}`;
  const signature = sign('sha256', Buffer.from(signed), privateKey).toString('base64url');
  return {
    token: `${signed}.${signature}`,
    key: { ...publicKey.export({ format: 'jwk' }), kid: 'key', use: 'sig' } as SigningKey,
  };
};

const run = async (): Promise<Figure[]> => {
  const now = Date.now() * 1000;
  const { token, key: signingKey } = makeToken(now);
  const document = { issuer, keysUrl: '', authorizationEndpoint: '', tokenEndpoint: '' };
  const keyList = [signingKey];
  const settings = {
    issuer,
    clientId: 'pennytrace',
    token: 'access',
    scopes: ['openid'],
    groupsClaim: 'groups',
  };
  const findPerson = makeFindPerson(
    { ...settings, token: 'access', admins: ['root@example.com'] },
    {
      getDocument: async () => ({ ...document, endSessionEndpoint: undefined }),
      getKeys: async () => keyList,
    },
  );
  const key = makeKey();
  const record = newRecord(key, { user: 'ada', grants: [{ scope: '*', role: 'write' }] }, now);
  const memory = new Memory<GrantRecord | undefined>(3_600_000);
  await memory.get(key.id, async () => record);
  const memberMemory = new Memory<readonly GrantRecord[]>(3_600_000);
  const ids = ['ada@example.com', ...groups.map((group) => `group:${group}`)].map((name) => `member:${name}`);
  await memberMemory.get(JSON.stringify(ids), async () => [record]);
  // What is remembered is all that is asked for.
  const store: KeyStore = { table: undefined as never, memory, memberMemory, findPerson };
  const ask = async (credential: string): Promise<void> => {
    for (let i = 0; i < requestsEach; i++) {
      const outcome = await authenticate(`Bearer ${credential}`, 'bearer', store, now);
      if ('refusal' in outcome) throw new Error(`refused: ${outcome.refusal}`);
    }
  };
  const ofKeys: number[] = [];
  const ofTokens: number[] = [];
  for (let round = 0; round < warmUps + rounds; round++) {
    ofKeys.push(await cpuEach(() => ask(formatKey(key)), requestsEach));
    ofTokens.push(await cpuEach(() => ask(token), requestsEach));
  }
  const more = ofTokens.map((ms, i) => ms - (ofKeys[i] ?? Number.NaN)).slice(warmUps);
  return [
    measured('a key', 'ms a request', ofKeys.slice(warmUps)),
    measured('a token', 'ms a request', ofTokens.slice(warmUps)),
    measured('the one more than the other', 'ms a request', more, { atMost: 1 }),
  ];
};

/** CPU time of the look-up of a key, and of a token with 20 groups, in turns. */
export const tokens: BenchPart = {
  name: 'tokens',
  title:
    'CPU time of who makes a request, by a key and by the token of a person with 20 groups, when both are remembered',
  run,
};
