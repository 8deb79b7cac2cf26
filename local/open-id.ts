import { generateKeyPairSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { loopback } from 'aws-stand-in';
import type { Configuration, interactionPolicy, Provider } from 'oidc-provider';
import { parsePerson, type SignInSettings, setMember } from '../foundations/auth/index.ts';
import { requestBudget, type Table } from '../foundations/storage/index.ts';

/*
 * The OpenID provider of `SIGN_IN=1`: a real one, on this machine alone, with two people. It is gone with the
 * service, and so are its sessions.
 */

/** Somebody who can sign in. */
interface LocalPerson {
  readonly email: string;
  readonly name: string;
  readonly groups: readonly string[];
}

/** The people, by the subjects of their tokens. */
const people: Readonly<Record<string, LocalPerson>> = {
  'local-ada': { email: 'ada@example.com', name: 'Ada Lovelace', groups: ['platform'] },
  'local-ben': { email: 'ben@example.com', name: 'Ben Okafor', groups: ['support'] },
};

/** Who may do everything, and who may read everything. */
export const localAdmin = 'ada@example.com';
export const localReader = 'ben@example.com';

const clientId = 'pennytrace';

/** Clients on this machine: the page on any port, and commands. RFC 8252 has the port of a native client vary. */
const callbacks = [loopback, 'localhost', '[::1]'].flatMap((host) => [
  `http://${host}/ui/`,
  `http://${host}/callback`,
]);

/** How long tokens are good for, in seconds. */
const lifetimes = {
  AccessToken: 900,
  AuthorizationCode: 60,
  Grant: 86_400,
  IdToken: 900,
  Interaction: 3600,
  RefreshToken: 86_400,
  Session: 86_400,
};

const claimsOf = (subject: string) => {
  const { email, name, groups } = people[subject] ?? { email: undefined, name: subject, groups: [] };
  return { email, email_verified: email !== undefined, name, groups: [...groups] };
};

const escaped = (value: string): string =>
  value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** A page of the provider's own. It loads nothing, and runs no script but one that is known here. */
const page = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 22rem; margin: 12vh auto; padding: 0 1rem; color: #1c1c1e }
label { display: block; margin: .75rem 0 } input, button { font: inherit; width: 100%; padding: .4rem; box-sizing: border-box }
button { margin-top: .75rem } .problem { color: #a5140f }
</style>
</head>
<body>
${body}
</body>
</html>
`;

const loginPage = (action: string, problem = ''): string =>
  page(
    'Sign in',
    `<h1>Sign in</h1>
<p>The local service's own sign-in. The password is printed at its start.</p>
${problem && `<p class="problem" role="alert">${problem}</p>`}
<form method="post" action="${escaped(action)}">
<label>E-mail <input name="email" type="email" autocomplete="username" required autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button type="submit">Sign in</button>
</form>`,
  );

const consentPage = (action: string, client: string, back: string): string =>
  page(
    'Let a program in',
    `<h1>Let ${escaped(client)} in?</h1>
<p>It will be able to do what you may do. You go on to ${escaped(back)}.</p>
<form method="post" action="${escaped(action)}">
<button type="submit">Let it in</button>
</form>`,
  );

const sendPage = (res: ServerResponse, status: number, html: string): void => {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  };
  res.writeHead(status, headers).end(html);
};

/** Keys that sign tokens: one of each kind that the service takes. */
const makeKeys = () => ({
  keys: [
    {
      ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
      use: 'sig',
      alg: 'RS256',
      kid: 'local-rs',
    },
    {
      ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
      use: 'sig',
      alg: 'ES256',
      kid: 'local-es',
    },
  ],
});

/**
 * What is asked of people: to sign in, and whether a client may that has registered itself. A client of this machine
 * is not asked about each time.
 */
const makePolicy = (base: () => interactionPolicy.DefaultPolicy): interactionPolicy.DefaultPolicy => {
  const policy = base();
  policy.get('consent')?.checks.remove('native_client_prompt');
  return policy;
};

const configure = (policy: interactionPolicy.DefaultPolicy): Configuration => ({
  clients: [
    {
      client_id: clientId,
      client_name: 'pennytrace',
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      redirect_uris: callbacks,
      post_logout_redirect_uris: callbacks,
    },
  ],
  jwks: makeKeys() as NonNullable<Configuration['jwks']>,
  cookies: { keys: [randomBytes(32).toString('hex')] },
  claims: {
    openid: ['sub'],
    email: ['email', 'email_verified'],
    profile: ['name'],
    groups: ['groups'],
  },
  scopes: ['openid', 'offline_access', 'email', 'profile', 'groups'],
  ttl: lifetimes,
  pkce: { required: () => true },
  findAccount: (_ctx, subject) => ({
    accountId: subject,
    claims: async () => ({ sub: subject, ...claimsOf(subject) }),
  }),
  // Tokens for the service say who has them, so that it need not ask.
  extraTokenClaims: (ctx, token) => {
    if (!('accountId' in token) || typeof token.accountId !== 'string') return undefined;
    const { RefreshToken: renewed, AuthorizationCode: code } = ctx.oidc.entities;
    return { ...claimsOf(token.accountId), auth_time: (renewed ?? code)?.authTime };
  },
  issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
  rotateRefreshToken: true,
  // MCP clients on this machine register with any port, and some do not say that they are native.
  clientDefaults: { application_type: 'native', token_endpoint_auth_method: 'none' },
  clientBasedCORS: (_ctx, origin) =>
    URL.canParse(origin) && [loopback, 'localhost', '[::1]'].includes(new URL(origin).hostname),
  interactions: { policy, url: (_ctx, interaction) => `/sign-in/${interaction.uid}` },
  loadExistingGrant: async (ctx) => {
    const { client, session, provider, result } = ctx.oidc;
    if (!client || !session?.accountId) return undefined;
    const known = result?.consent?.grantId ?? session.grantIdFor(client.clientId);
    const existing = known === undefined ? undefined : await provider.Grant.find(known);
    // Somebody lets a client in that has registered itself. The service's own is in.
    if (client.clientId !== clientId) return existing;
    const grant = existing ?? new provider.Grant({ clientId, accountId: session.accountId });
    return allow(grant, Object.keys(ctx.oidc.resourceServers ?? {}));
  },
  renderError: (ctx, out) => {
    ctx.type = 'html';
    const lines = Object.values(out).map((line) => `<p>${escaped(String(line ?? ''))}</p>`);
    ctx.body = page('Sign-in failed', `<h1>Sign-in failed</h1>${lines.join('')}`);
  },
  features: {
    devInteractions: { enabled: false },
    userinfo: { enabled: true },
    revocation: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => audience,
      useGrantedResource: () => true,
      // A token for another resource is for that alone: whoever gets it there cannot use it here.
      getResourceServerInfo: (_ctx, resource) => ({
        scope: resourceScopes,
        audience: resource === audience ? clientId : resource,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (ctx, form) => {
        ctx.body = page(
          'Sign out',
          `<h1>Sign out</h1>${form}<button autofocus type="submit" form="op.logoutForm" name="logout" value="yes">Sign out</button>`,
        );
      },
      postLogoutSuccessSource: (ctx) => {
        ctx.body = page('Signed out', '<h1>You are signed out</h1>');
      },
    },
  },
});

/** What access tokens are for, unless a client says so. A resource is a URI. */
const audience = 'urn:pennytrace:local';

const resourceScopes = 'openid email profile groups';

type Grant = InstanceType<Provider['Grant']>;

/** Lets a client have tokens for resources. */
const allow = async (grant: Grant, resources: readonly string[]): Promise<Grant> => {
  grant.addOIDCScope('openid offline_access email profile groups');
  for (const resource of [audience, ...resources]) grant.addResourceScope(resource, resourceScopes);
  await grant.save();
  return grant;
};

/** The longest body of the form, in characters. */
const maxForm = 2000;

/** Lets the reader read every project. Doing it again changes nothing. */
export const storeReader = async (table: Table): Promise<void> => {
  const member = parsePerson(localReader);
  if (!member) throw new Error(`${localReader} is no e-mail address`);
  await setMember(table, { member, scope: '*', roles: ['read'] }, Date.now() * 1000, requestBudget(10_000));
};

/** A running provider. */
export interface LocalOpenId {
  /** The setting `signIn` for it. */
  readonly settings: SignInSettings;
  /** The password of both people. */
  readonly password: string;
  readonly stop: () => Promise<void>;
}

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** Asks whether a client may act for somebody, and lets it if they say so. */
const askConsent = async (
  provider: Provider,
  { params, session, grantId }: Interaction,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> => {
  const { client_id: id, redirect_uri: back, resource } = params;
  const client = await provider.Client.find(String(id));
  const accountId = session?.accountId;
  if (!client || accountId === undefined) throw new Error('nobody to ask');
  if (req.method !== 'POST')
    return sendPage(
      res,
      200,
      consentPage(req.url ?? '/', client.clientName ?? client.clientId, String(back)),
    );
  const existing = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const resources = [resource ?? []].flat().map(String);
  const grant = await allow(
    existing ?? new provider.Grant({ accountId, clientId: client.clientId }),
    resources,
  );
  const consent = { grantId: grant.jti };
  await provider.interactionFinished(req, res, { consent }, { mergeWithLastSubmission: true });
};

/** Shows the form, and takes it: signs in whoever has the password. */
const interact = async (
  provider: Provider,
  req: IncomingMessage,
  res: ServerResponse,
  password: string,
): Promise<void> => {
  const details = await provider.interactionDetails(req, res);
  const action = req.url ?? '/';
  if (details.prompt.name === 'consent') return askConsent(provider, details, req, res);
  if (req.method !== 'POST') return sendPage(res, 200, loginPage(action));
  const length = Number(req.headers['content-length'] ?? maxForm + 1);
  const form = new URLSearchParams(length <= maxForm ? await text(req) : '');
  const email = (form.get('email') ?? '').trim().toLowerCase();
  const [subject] = Object.entries(people).find(([, person]) => person.email === email) ?? [];
  const given = Buffer.from(form.get('password') ?? '');
  const expected = Buffer.from(password);
  const matches = given.length === expected.length && timingSafeEqual(given, expected);
  if (subject === undefined || !matches)
    return sendPage(res, 401, loginPage(action, 'E-mail or password is wrong.'));
  await provider.interactionFinished(req, res, { login: { accountId: subject } });
};

/**
 * Starts the provider on a free port of this machine.
 *
 * @param port @default - any free one
 */
export const startOpenId = async (port = 0): Promise<LocalOpenId> => {
  // It is no part of the package, and is loaded for those who want it.
  const { Provider, interactionPolicy } = await import('oidc-provider');
  const server = createServer();
  server.listen(port, loopback);
  await once(server, 'listening');
  const { port: actual } = server.address() as AddressInfo;
  const issuer = `http://${loopback}:${actual}`;
  const provider = new Provider(issuer, configure(makePolicy(interactionPolicy.base)));
  const password = randomBytes(9).toString('base64url');
  const answer = provider.callback();
  server.on('request', (req, res) => {
    // A name that resolves to this machine is some other page's.
    if (req.headers.host !== `${loopback}:${actual}`) return res.writeHead(403).end();
    if (!req.url?.startsWith('/sign-in/')) return answer(req, res);
    interact(provider, req, res, password).catch(() =>
      sendPage(res, 400, page('Sign-in failed', '<h1>Sign-in failed</h1><p>Begin again in the page.</p>')),
    );
  });
  return {
    settings: {
      issuer,
      clientId,
      token: 'access',
      scopes: ['openid', 'email', 'profile', 'groups', 'offline_access'],
      groupsClaim: 'groups',
      admins: [localAdmin],
    },
    password,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};
