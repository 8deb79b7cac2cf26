import { constants, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SignInSettings } from '../../../foundations/auth/index.ts';
import { serve } from './upstream.ts';

/** A key of an issuer, and what it publishes of it. */
export interface IssuerKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly jwk: Readonly<Record<string, unknown>>;
}

let keysMade = 0;

export const makeIssuerKey = (kind: 'RSA' | 'EC' = 'RSA', kid = `key-${++keysMade}`): IssuerKey => {
  const { privateKey, publicKey } =
    kind === 'RSA'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { kid, privateKey, publicKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig' } };
};

export const encodePart = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** The signature of a text by an algorithm of JWS, well or badly used. */
const signatures: Readonly<Record<string, (text: Buffer, key: IssuerKey) => Buffer>> = {
  RS256: (text, { privateKey }) => sign('sha256', text, privateKey),
  PS256: (text, { privateKey }) =>
    sign('sha256', text, {
      key: privateKey,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    }),
  ES256: (text, { privateKey }) => sign('sha256', text, { key: privateKey, dsaEncoding: 'ieee-p1363' }),
  RS512: (text, { privateKey }) => sign('sha512', text, privateKey),
  // Whoever mistakes a public key for a secret accepts these.
  HS256: (text, { publicKey }) =>
    createHmac('sha256', publicKey.export({ type: 'spki', format: 'pem' }))
      .update(text)
      .digest(),
  none: () => Buffer.alloc(0),
};

/** Signs a token as its header says; parts may be texts that are no JSON. */
export const signToken = (
  header: { readonly alg: string; readonly [name: string]: unknown },
  payload: unknown,
  key: IssuerKey,
): string => {
  const signed = `${encodePart(header)}.${encodePart(payload)}`;
  const signature = signatures[header.alg]?.(Buffer.from(signed), key) ?? Buffer.from('signature');
  return `${signed}.${signature.toString('base64url')}`;
};

/** What a test has otherwise in a token. A claim that is undefined is left out. */
export interface TokenParts {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly key?: IssuerKey;
}

/** How it answers a request. */
export type Answer = (req: IncomingMessage, res: ServerResponse) => unknown;

/** An issuer of the tests' own, which does as it is told. */
export interface TestIssuer extends AsyncDisposable {
  readonly url: string;
  /** The setting `signIn` for it. */
  readonly settings: SignInSettings;
  /** The paths of all requests so far. */
  readonly requests: readonly string[];
  readonly key: IssuerKey;
  /** An access token, good for five minutes unless its parts say otherwise. */
  readonly token: (parts?: TokenParts) => string;
  /** Sets the keys that it publishes from now on. */
  readonly publish: (...keys: readonly unknown[]) => void;
  /** Sets how it answers from now on. @default - as an issuer does */
  readonly behave: (behaviour?: { readonly document?: Answer; readonly keys?: Answer }) => void;
  /** What its discovery document says. */
  readonly document: () => Readonly<Record<string, unknown>>;
}

export const sendJson = (res: ServerResponse, value: unknown): void => {
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};

/** Starts an issuer. */
export const startIssuer = async (more: Partial<SignInSettings> = {}): Promise<TestIssuer> => {
  const requests: string[] = [];
  const key = makeIssuerKey();
  let published: readonly unknown[] = [key.jwk];
  let behaviour: Parameters<TestIssuer['behave']>[0];
  const server = await serve((req, res) => {
    requests.push(req.url ?? '');
    const isKeys = req.url === '/keys';
    const own = isKeys ? behaviour?.keys : behaviour?.document;
    if (own) own(req, res);
    else sendJson(res, isKeys ? { keys: published } : document());
  });
  const { origin: url } = server;
  const document = () => ({
    issuer: url,
    jwks_uri: `${url}/keys`,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    end_session_endpoint: `${url}/logout`,
  });
  const settings: SignInSettings = {
    issuer: url,
    clientId: 'pennytrace',
    token: 'access',
    scopes: ['openid', 'email', 'profile'],
    groupsClaim: 'groups',
    admins: ['root@example.com', 'group:operators'],
    ...more,
  };
  return {
    ...server,
    url,
    settings,
    requests,
    key,
    token: ({ claims, header, key: signer = key } = {}) => {
      const now = Math.floor(Date.now() / 1000);
      const payload = {
        iss: url,
        aud: 'pennytrace',
        client_id: 'pennytrace',
        scope: 'openid email',
        sub: 'subject-1',
        iat: now,
        exp: now + 300,
        email: 'ada@example.com',
        email_verified: true,
        ...claims,
      };
      const alg = signer.jwk.kty === 'EC' ? 'ES256' : 'RS256';
      return signToken({ alg, kid: signer.kid, typ: 'at+jwt', ...header }, payload, signer);
    },
    publish: (...keys) => {
      published = keys;
    },
    behave: (next) => {
      behaviour = next;
    },
    document,
  };
};
