import { createHash } from 'node:crypto';
import type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey } from 'jose';
import { asString, isJsonObject, type Micros, nonEmptyString, parseOptionalJson } from '../wire/index.ts';
import type { Grant } from './grants.ts';
import { Issuer, IssuerError, type SigningKey } from './issuer.ts';
import { isUser } from './keys.ts';
import { type Member, parseGroup, parseMember, parsePerson } from './members.ts';
import type { SignInSettings, TokenKind } from './sign-in.ts';

/*
 * Tokens of the setting `signIn`: who has one, and why another is refused. docs/people.md explains it to operators,
 * docs/decisions/0286 says why.
 */

/** Loaded when the first token comes, from beside the bundle. */
const jose = () => import('jose');

/** From when to when somebody is signed in. Tokens of one session say the same. */
export interface PersonSession {
  /** Tells the sessions of a person apart. */
  readonly mark: string;
  /** When it began, else when the token was issued; undefined if the token says neither. */
  readonly at: Micros | undefined;
}

/** A person who has a good token. */
export interface Person {
  /** The e-mail address that the issuer has verified, else the subject. */
  readonly user: string;
  /** 16 of `0-9a-z`, the same for a subject of an issuer: names the person as a key's id names a key. */
  readonly id: string;
  readonly name?: string;
  /** What the person may be granted something as: the address, and groups. */
  readonly members: readonly Member[];
  /** What the settings grant. */
  readonly grants: readonly Grant[];
  /** When the token expires. */
  readonly expiresAt: Micros;
  readonly session: PersonSession;
}

/** Why a token does not show a person. */
export type PersonRefusal =
  | 'malformed token'
  | 'token without a key id'
  | 'token of an unknown key'
  | 'token with a wrong signature'
  | 'token of another issuer'
  | 'token for another client'
  | 'token of another kind'
  | 'token without a subject'
  | 'token without an expiry'
  | 'token from the future'
  | 'expired token'
  | 'unusable token'
  | 'issuer does not answer';

/**
 * Finds out who has a token. It never throws for what a token or the issuer says.
 *
 * @param now microseconds since 1970
 */
export type FindPerson = (
  token: string,
  now: Micros,
) => Promise<Person | { readonly refusal: PersonRefusal }>;

const algorithms = ['RS256', 'PS256', 'ES256'];

const part = /^[A-Za-z0-9_-]+$/;

/** Whether a text is meant as a token of an issuer: three parts with dots between them, as no key has them. */
export const isJwt = (text: string): boolean => {
  const parts = text.split('.');
  return parts.length === 3 && parts.every((one) => part.test(one));
};

/** Node skips bits that encode nothing, so only text that encodes back to itself counts. */
const isCanonical = (encoded: string): boolean =>
  Buffer.from(encoded, 'base64url').toString('base64url') === encoded;

/** How far the clock of the issuer may be ahead, in seconds. */
const maxSkewSeconds = 60;

/** DynamoDB reads a hundred records in one request: the person's and these. */
const maxGroups = 99;

const maxIdLength = 256;

/** No token counts for longer than a year, so that its expiry is a time that can be written. */
const maxLifeMicros = 365 * 86_400_000_000;

/** The header of a token; undefined if it is none that may be good. */
const readHeader = (token: string) => {
  const parts = token.split('.');
  if (!parts.every(isCanonical)) return undefined;
  const header = parseOptionalJson(Buffer.from(parts[0] ?? '', 'base64url').toString('utf8'));
  if (!isJsonObject(header) || !algorithms.includes(asString(header.alg) ?? '')) return undefined;
  return { kid: nonEmptyString(header.kid), typ: asString(header.typ) };
};

/** What jose says of a token, by its codes and claims. */
const toRefusal = (error: unknown): PersonRefusal => {
  const { code, claim } = error as { readonly code?: unknown; readonly claim?: unknown };
  if (code === 'ERR_JWKS_NO_MATCHING_KEY') return 'token of an unknown key';
  if (code === 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED') return 'token with a wrong signature';
  if (code === 'ERR_JWT_EXPIRED') return 'expired token';
  if (code !== 'ERR_JWT_CLAIM_VALIDATION_FAILED') return 'unusable token';
  if (claim === 'iss') return 'token of another issuer';
  if (claim === 'nbf') return 'token from the future';
  return claim === 'exp' ? 'token without an expiry' : 'unusable token';
};

const isAccessType = (typ: string | undefined): boolean => /^(?:application\/)?at\+jwt$/i.test(typ ?? '');

/**
 * Whether a token says that it is for something else than to show who somebody is: to sign out, for one. Issuers sign
 * those with the same keys, for the same client (RFC 8725, 3.11, and OpenID Connect Back-Channel Logout, 2.4).
 */
const isOther = ({ events, typ: type }: JWTPayload, typ = ''): boolean =>
  events !== undefined ||
  (/\+jwt$/i.test(typ) && !isAccessType(typ)) ||
  (type !== undefined && !['Bearer', 'ID', 'JWT'].includes(String(type)));

/**
 * The kind of a token. Nothing marks it everywhere, but access tokens say what they allow or whose client has them
 * (RFC 9068, and issuers in their own words), and ID tokens never do.
 */
const getKind = (payload: JWTPayload, typ: string | undefined): TokenKind | undefined => {
  const { token_use: use, typ: type } = payload;
  if (isOther(payload, typ)) return undefined;
  if (use !== undefined) return use === 'access' || use === 'id' ? use : undefined;
  if (isAccessType(typ) || type === 'Bearer') return 'access';
  if (type === 'ID' || payload.at_hash !== undefined || payload.c_hash !== undefined) return 'id';
  const says = ['scope', 'scp', 'client_id', 'cid', 'appid'].some((name) => payload[name] !== undefined);
  return says ? 'access' : 'id';
};

/**
 * Whether a token is for the service. An ID token has its client as the audience (OpenID Connect Core, 3.1.3.7); an
 * access token may have an API there, and say the client otherwise. One with the service itself there may be any
 * client's: somebody let that client in (RFC 8707).
 */
const isFor = (
  payload: JWTPayload,
  { clientId, resource }: Pick<SignInSettings, 'clientId' | 'resource'>,
  kind: TokenKind,
): boolean => {
  const audiences = [payload.aud ?? []].flat();
  const has = audiences.includes(clientId);
  if (kind === 'access')
    return (
      has ||
      payload.client_id === clientId ||
      payload.azp === clientId ||
      (resource !== undefined && audiences.includes(resource))
    );
  return has && (payload.azp === undefined ? audiences.length === 1 : payload.azp === clientId);
};

/** The name that a subject is known by. An `@` is encoded, too: no subject passes for somebody's e-mail address. */
const toUser = (subject: string): string | undefined => {
  const user = subject.replace(/[^A-Za-z0-9._~|/+=-]+/g, (other) => encodeURIComponent(other.toWellFormed()));
  return isUser(user) ? user : undefined;
};

const idLength = 16;

const toPersonId = (issuer: string, subject: string): string =>
  BigInt(
    `0x${createHash('sha256')
      .update(JSON.stringify([issuer, subject]))
      .digest('hex')}`,
  )
    .toString(36)
    .padStart(idLength, '0')
    .slice(-idLength);

const groupsIn = (claim: unknown): Member[] => {
  const names = [claim ?? []].flat().filter((name) => typeof name === 'string');
  const groups = names.map(parseGroup).filter((group) => group !== undefined);
  return [...new Set(groups)].slice(0, maxGroups);
};

/** The session of a token. Times that cannot be are passed over, as an issuer may say anything. */
const getSession = ({ auth_time: began, iat, jti }: JWTPayload, now: Micros): PersonSession => {
  const toMicros = (time: unknown): Micros | undefined => {
    const micros = typeof time === 'number' ? Math.floor(time * 1_000_000) : Number.NaN;
    return micros > now - maxLifeMicros && micros <= now + maxSkewSeconds * 1_000_000 ? micros : undefined;
  };
  const beganAt = toMicros(began);
  if (beganAt !== undefined) return { mark: `auth_time ${beganAt}`, at: beganAt };
  const issuedAt = toMicros(iat);
  const mark = typeof jti === 'string' ? jti.slice(0, maxIdLength) : String(issuedAt);
  return { mark, at: issuedAt };
};

/**
 * Who a token's claims say that somebody is.
 *
 * @param admins members who may do everything
 * @returns undefined if the subject cannot be the name of a user
 */
const toPerson = (
  payload: JWTPayload,
  { groupsClaim }: Pick<SignInSettings, 'groupsClaim'>,
  admins: ReadonlySet<Member>,
  now: Micros,
): Person | undefined => {
  const { iss = '', sub = '', exp = 0, email, email_verified: isVerified, name } = payload;
  const address = isVerified === true && typeof email === 'string' ? parsePerson(email) : undefined;
  const user = address ?? toUser(sub);
  if (user === undefined) return undefined;
  const groups = groupsClaim === undefined ? [] : groupsIn(payload[groupsClaim]);
  const members = [...(address ? [address] : []), ...groups];
  const id = toPersonId(iss, sub);
  return {
    user,
    id,
    ...(typeof name === 'string' && isUser(name) && { name }),
    members,
    grants: members.some((member) => admins.has(member)) ? [{ scope: '*', role: 'admin' }] : [],
    expiresAt: Math.min(Math.floor(exp * 1_000_000), now + maxLifeMicros),
    session: getSession(payload, now),
  };
};

/** Makes what finds out who has a token of an issuer, whose keys it remembers. */
export const makeFindPerson = (
  settings: SignInSettings,
  issuer: Pick<Issuer, 'getDocument' | 'getKeys'> = new Issuer(settings.issuer),
): FindPerson => {
  const { token: kind } = settings;
  const admins = new Set(settings.admins.map(parseMember).filter((member) => member !== undefined));
  const keySets = new WeakMap<readonly SigningKey[], JWTVerifyGetKey>();

  const getKeySet = async (kid: string): Promise<JWTVerifyGetKey> => {
    const keys = await issuer.getKeys(kid);
    const { createLocalJWKSet } = await jose();
    const keySet = keySets.get(keys) ?? createLocalJWKSet({ keys } as unknown as JSONWebKeySet);
    keySets.set(keys, keySet);
    return keySet;
  };

  const verify = async (token: string, kid: string, now: Micros): Promise<JWTPayload> => {
    const keySet = await getKeySet(kid);
    const { issuer: name } = await issuer.getDocument();
    const { jwtVerify } = await jose();
    const { payload } = await jwtVerify(token, keySet, {
      issuer: name,
      algorithms,
      clockTolerance: maxSkewSeconds,
      currentDate: new Date(now / 1000),
      requiredClaims: ['exp'],
    });
    return payload;
  };

  return async (token, now) => {
    const header = isJwt(token) ? readHeader(token) : undefined;
    if (!header) return { refusal: 'malformed token' };
    if (header.kid === undefined || header.kid.length > maxIdLength)
      return { refusal: 'token without a key id' };
    let payload: JWTPayload;
    try {
      payload = await verify(token, header.kid, now);
    } catch (error) {
      return { refusal: error instanceof IssuerError ? 'issuer does not answer' : toRefusal(error) };
    }
    if (getKind(payload, header.typ) !== kind) return { refusal: 'token of another kind' };
    if (!isFor(payload, settings, kind)) return { refusal: 'token for another client' };
    if (!nonEmptyString(payload.sub) || (payload.sub?.length ?? 0) > maxIdLength)
      return { refusal: 'token without a subject' };
    const person = toPerson(payload, settings, admins, now);
    if (!person) return { refusal: 'token without a subject' };
    // Only an issuer's clock may be ahead: a token is over when it says so.
    return person.expiresAt <= now ? { refusal: 'expired token' } : person;
  };
};
