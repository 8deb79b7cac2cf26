import { text } from 'node:stream/consumers';
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import {
  type OAuthClientProvider as OAuthClientProvider1,
  UnauthorizedError as Unauthorized1,
} from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../../bin/login.ts';
import type { SignInSettings } from '../../../foundations/auth/index.ts';
import { type LocalService, startLocalService } from '../../../local/service.ts';
import { temporaryFolder } from '../../support/run/project.ts';
import { browse } from '../../support/service/sign-in.ts';
import { serve } from '../../support/service/upstream.ts';
import { assemblyWith } from '../../support/stack/assembly.ts';
import { signInSettings } from '../../support/stack/every-setting.ts';

/*
 * MCP clients that sign somebody in: the official SDKs, at the provider of `SIGN_IN=1`.
 */

let service: LocalService;
let endpoint: URL;

beforeAll(async () => {
  service = await startLocalService({
    assembly: await assemblyWith({ signIn: signInSettings }),
    signIn: 'local',
  });
  endpoint = new URL(`${service.url}/mcp`);
});

afterAll(() => service?.stop());

const callback = 'http://127.0.0.1:45678/callback';

/** What an MCP client keeps of a sign-in, with a browser that a person looks at. */
class Keeper implements OAuthClientProvider {
  readonly redirectUrl = callback;
  readonly clientMetadata = {
    client_name: 'An agent',
    redirect_uris: [callback],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
  };
  readonly #email: string;
  client: OAuthClientInformationMixed | undefined;
  kept: OAuthTokens | undefined;
  found: OAuthDiscoveryState | undefined;
  verifier = '';
  /** Where the authorization endpoint was asked for, and where it led back to. */
  sent: URL | undefined;
  back: URL | undefined;

  constructor(email: string, client?: OAuthClientInformationMixed) {
    this.#email = email;
    this.client = client;
  }

  clientInformation() {
    return this.client;
  }

  saveClientInformation(client: OAuthClientInformationMixed) {
    this.client = client;
  }

  tokens() {
    return this.kept;
  }

  saveTokens(tokens: OAuthTokens) {
    this.kept = tokens;
  }

  codeVerifier() {
    return this.verifier;
  }

  saveCodeVerifier(verifier: string) {
    this.verifier = verifier;
  }

  discoveryState() {
    return this.found;
  }

  saveDiscoveryState(found: OAuthDiscoveryState) {
    this.found = found;
  }

  async redirectToAuthorization(url: URL) {
    this.sent = url;
    this.back = await browse(url.href, { email: this.#email, password: service.openId?.password ?? '' });
  }
}

const newClient = () => new Client({ name: 'test', version: '1' });

const connect = async (keeper: Keeper, to = endpoint): Promise<Client> => {
  const first = new StreamableHTTPClientTransport(to, { authProvider: keeper });
  await expect(newClient().connect(first)).rejects.toThrow(UnauthorizedError);
  await first.finishAuth(keeper.back?.searchParams ?? new URLSearchParams());
  const client = newClient();
  await client.connect(new StreamableHTTPClientTransport(to, { authProvider: keeper }));
  return client;
};

const listProjects = { name: 'list_projects', arguments: {} };

describe('a 401', () => {
  it.each(['/mcp', '/calls/stream_query'])(
    'of %s leads to the metadata of /mcp, by Bearer before Basic',
    async (path) => {
      const answer = await fetch(service.url + path, { method: 'POST', body: '{}' });
      expect(answer.status).toBe(401);
      const metadata = `${service.url}/.well-known/oauth-protected-resource/mcp`;
      expect(answer.headers.get('www-authenticate')).toBe(
        `Bearer realm="svc", resource_metadata="${metadata}", Basic realm="svc", charset="UTF-8"`,
      );
    },
  );

  it('leads to metadata that name /mcp as the client has it, and the issuer', async () => {
    const answer = await fetch(`${service.url}/.well-known/oauth-protected-resource/mcp`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      resource: `${service.url}/mcp`,
      authorization_servers: [service.openId?.settings.issuer],
      scopes_supported: ['openid', 'email', 'profile', 'groups', 'offline_access'],
      bearer_methods_supported: ['header'],
    });
  });
});

describe('the official SDK', () => {
  it('2.x registers itself, asks somebody, and reads as that person', async () => {
    const keeper = new Keeper('ben@example.com');
    const client = await connect(keeper);
    expect(keeper.sent?.searchParams.get('resource')).toBe(endpoint.href);
    const listed = (await client.listTools()).tools.map(({ name }) => name);
    expect(listed).toContain('query_calls');
    // Ben may read everything, and write nothing.
    expect(listed).not.toContain('add_feedback');
    expect((await client.callTool(listProjects)).isError).not.toBe(true);
    await client.close();
  });

  it('2.x renews its token when the service takes the old one no longer', async () => {
    const keeper = new Keeper('ada@example.com');
    await (await connect(keeper)).close();
    const { kept } = keeper;
    const spoiled = `${kept?.access_token.slice(0, -8)}AAAAAAAA`;
    keeper.kept = { ...(kept as OAuthTokens), access_token: spoiled };
    keeper.sent = undefined;
    const client = newClient();
    await client.connect(new StreamableHTTPClientTransport(endpoint, { authProvider: keeper }));
    expect((await client.callTool(listProjects)).isError).not.toBe(true);
    expect(keeper.sent).toBeUndefined();
    expect(keeper.kept?.access_token).not.toBe(spoiled);
    await client.close();
  });

  it('2.x takes the service’s own client in place of registering', async () => {
    const keeper = new Keeper('ada@example.com', { client_id: 'pennytrace' });
    const client = await connect(keeper);
    expect(keeper.sent?.searchParams.get('client_id')).toBe('pennytrace');
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('add_feedback');
    await client.close();
  });

  it('1.x signs somebody in as well', async () => {
    const keeper = new Keeper('ada@example.com');
    const options = { authProvider: keeper as unknown as OAuthClientProvider1 };
    const first = new Transport1(endpoint, options);
    const newClient1 = () => new Client1({ name: 'test', version: '1' });
    await expect(newClient1().connect(first)).rejects.toThrow(Unauthorized1);
    await first.finishAuth(keeper.back?.searchParams.get('code') ?? '');
    const client = newClient1();
    await client.connect(new Transport1(endpoint, options));
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
    await client.close();
  });
});

/** The service below `/api`, as a stage of API Gateway has it: it knows itself by that URL. */
const startStage = async () => {
  const stage: Awaited<ReturnType<typeof serve>> = await serve(async (req, res) => {
    if (!req.url?.startsWith('/api/')) return res.writeHead(403).end('{"message":"Forbidden"}');
    const { authorization, 'content-type': type, accept } = req.headers;
    const headers = Object.entries({ authorization, 'content-type': type, accept });
    const answer = await fetch(service.url + req.url.slice('/api'.length), {
      method: req.method ?? 'GET',
      headers: headers.filter((header): header is [string, string] => header[1] !== undefined),
      ...(req.method === 'POST' && { body: await text(req) }),
    });
    const toOwn = (part: string) => part.replaceAll(service.url, `${stage.origin}/api`);
    const challenge = answer.headers.get('www-authenticate');
    res.writeHead(answer.status, {
      'content-type': answer.headers.get('content-type') ?? 'text/plain',
      ...(challenge && { 'www-authenticate': toOwn(challenge) }),
    });
    res.end(toOwn(await answer.text()));
  });
  return stage;
};

describe('the local provider', () => {
  const register = (body: object) =>
    fetch(`${service.openId?.settings.issuer}/reg`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it.each([
    ['VS Code', ['https://vscode.dev/redirect', 'http://127.0.0.1/', 'http://127.0.0.1:33418/']],
    ['Cursor', ['http://localhost:8787/callback']],
    ['Cursor, formerly', ['cursor://anysphere.cursor-mcp/oauth/callback']],
  ])('registers %s', async (name, redirects) => {
    const answer = await register({ client_name: name, redirect_uris: redirects, scope: 'openid email' });
    expect([answer.status, answer.status === 201 ? '' : await answer.text()]).toEqual([201, '']);
  });

  it('asks people before a client that registered itself gets anything, and says what it may', async () => {
    const registered = await register({ client_name: '<b>An agent', redirect_uris: [callback] });
    const { client_id: id } = (await registered.json()) as { client_id: string };
    const query = new URLSearchParams({
      client_id: id,
      response_type: 'code',
      redirect_uri: callback,
      scope: 'openid email',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    });
    const pages: string[] = [];
    const person = { email: 'ben@example.com', password: service.openId?.password ?? '' };
    await browse(`${service.openId?.settings.issuer}/auth?${query}`, person, (html) => pages.push(html));
    expect(pages).toHaveLength(2);
    expect(pages[1]).toContain('Let &#60;b&#62;An agent in?');
    expect(pages[1]).toContain(callback);
  });
});

describe('below the path of a stage', () => {
  it('the SDK finds the metadata by the header alone', async () => {
    await using stage = await startStage();
    // A token for that URL is not for this service, unless its own client has it.
    const keeper = new Keeper('ada@example.com', { client_id: 'pennytrace' });
    const client = await connect(keeper, new URL(`${stage.origin}/api/mcp`));
    expect(keeper.sent?.searchParams.get('resource')).toBe(`${stage.origin}/api/mcp`);
    expect((await client.callTool(listProjects)).isError).not.toBe(true);
    await client.close();
  });

  it('a token that a client of its own has for another URL is refused', async () => {
    await using stage = await startStage();
    const keeper = new Keeper('ada@example.com');
    await expect(connect(keeper, new URL(`${stage.origin}/api/mcp`))).rejects.toThrow();
    expect(keeper.kept?.access_token).toMatch(/^eyJ/);
    const answer = await fetch(`${service.url}/me`, {
      headers: { authorization: `Bearer ${keeper.kept?.access_token}` },
    });
    expect(answer.status).toBe(401);
  });
});

describe('a service that takes ID tokens', () => {
  let other: LocalService;
  beforeAll(async () => {
    const settings = { ...service.openId?.settings, token: 'id' } as SignInSettings;
    other = await startLocalService({
      assembly: await assemblyWith({ signIn: { ...signInSettings, token: 'id' } }),
      signIn: settings,
    });
  });
  afterAll(() => other?.stop());

  it('says nothing of sign-in to MCP clients, which would send others', async () => {
    const answer = await fetch(`${other.url}/mcp`, { method: 'POST', body: '{}' });
    expect(answer.headers.get('www-authenticate')).not.toContain('resource_metadata');
    const metadata = await fetch(`${other.url}/.well-known/oauth-protected-resource/mcp`);
    expect(metadata.status).toBe(404);
    expect(await metadata.text()).toContain('npx pennytrace login');
  });

  it('takes the token of npm run login', async () => {
    const out: string[] = [];
    const code = await run(['--url', other.url, '--print'], {
      out: (line) => out.push(line),
      err: () => {},
      interactive: true,
      environment: { XDG_CONFIG_HOME: temporaryFolder() },
      open: (url) =>
        browse(url, { email: 'ada@example.com', password: service.openId?.password ?? '' }).then(fetch),
    });
    expect(code).toBe(0);
    const transport = new StreamableHTTPClientTransport(new URL(`${other.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${out[0]}` } },
    });
    const client = newClient();
    await client.connect(transport);
    expect((await client.callTool(listProjects)).isError).not.toBe(true);
    await client.close();
  });
});
