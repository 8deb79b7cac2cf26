import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalService, startLocalService } from '../../../local/service.ts';
import { readSignIn, refresh, type SignInAnswer, signInAs } from '../../support/service/sign-in.ts';
import { assemblyWith } from '../../support/stack/assembly.ts';
import { signInSettings } from '../../support/stack/every-setting.ts';

/*
 * The OpenID provider of `SIGN_IN=1`, and the service with it.
 */

let service: LocalService;
let signIn: SignInAnswer;
let password: string;

beforeAll(async () => {
  service = await startLocalService({
    assembly: await assemblyWith({ signIn: signInSettings }),
    signIn: 'local',
  });
  signIn = await readSignIn(service.url);
  password = service.openId?.password ?? '';
});

afterAll(() => service?.stop());

const asPerson = (email: string, given = password) =>
  signInAs(signIn, { email, password: given }, `${service.url}/ui/`);

const ask = async (token: string, path: string, body?: object) => {
  const answer = await fetch(service.url + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text() };
};

const start = { start: { project_id: 'acme/shop', op_name: 'greet', started_at: '2026-10-01T09:30:00Z' } };

describe('SIGN_IN=1', () => {
  it('lets ada do everything, whose calls have her address', async () => {
    const { access_token: token } = await asPerson('ada@example.com');
    expect(JSON.parse((await ask(token, '/me')).text)).toMatchObject({
      kind: 'person',
      user: 'ada@example.com',
      name: 'Ada Lovelace',
      grants: [{ resource: '*', role: 'admin' }],
    });
    expect((await ask(token, '/call/start', start)).status).toBe(200);
    const { text: calls } = await ask(token, '/calls/stream_query', { project_id: 'acme/shop' });
    expect(calls).toContain('"svc_user_id":"ada@example.com"');
  });

  it('lets ben read everything, and write nothing', async () => {
    const { access_token: token } = await asPerson('Ben@Example.com');
    expect((await ask(token, '/calls/stream_query', { project_id: 'acme/shop' })).status).toBe(200);
    expect((await ask(token, '/call/start', start)).status).toBe(403);
  });

  it('gives ID tokens, which the service does not take', async () => {
    const { id_token: token } = await asPerson('ada@example.com');
    expect((await ask(token, '/me')).status).toBe(401);
  });

  it('rotates refresh tokens: a used one is good for nothing, and ends the session', async () => {
    const { refresh_token: first } = await asPerson('ada@example.com');
    const renewed = await refresh(signIn, first);
    expect(renewed.status).toBe(200);
    const tokens = (await renewed.json()) as { access_token: string; refresh_token: string };
    expect((await ask(tokens.access_token, '/me')).status).toBe(200);
    expect((await refresh(signIn, first)).status).toBe(400);
    expect((await refresh(signIn, tokens.refresh_token)).status).toBe(400);
  });

  it('shows the form again if the password is wrong, or nobody has the address', async () => {
    await expect(asPerson('ada@example.com', 'password')).rejects.toThrow('401');
    await expect(asPerson('eve@example.com')).rejects.toThrow('401');
  });

  it('sends people back to this machine alone', async () => {
    const elsewhere = signInAs(signIn, { email: 'ada@example.com', password }, 'https://evil.example/ui/');
    await expect(elsewhere).rejects.toThrow('there is no form');
  });

  it('has pages that load nothing from elsewhere', async () => {
    const { id_token: hint } = await asPerson('ada@example.com');
    const back = { client_id: signIn.client_id, post_logout_redirect_uri: `${service.url}/ui/` };
    const signOut = `${signIn.end_session_endpoint}?${new URLSearchParams({ ...back, id_token_hint: hint })}`;
    const unknown = `${signIn.authorization_endpoint}?client_id=nobody`;
    const { origin } = new URL(signIn.issuer);
    for (const [url, status] of [
      [signOut, 200],
      [unknown, 400],
    ] as const) {
      const answer = await fetch(url, { headers: { accept: 'text/html' } });
      const html = await answer.text();
      expect(answer.status).toBe(status);
      expect(html).toContain('</html>');
      expect(html.replaceAll(origin, '')).not.toMatch(/https?:|@import|<link|<img|src=/);
    }
  });

  it('lets pages of this machine exchange codes, and no others', async () => {
    const preflight = (origin: string) =>
      fetch(signIn.token_endpoint, {
        method: 'POST',
        headers: { origin },
        body: new URLSearchParams({
          client_id: signIn.client_id,
          grant_type: 'refresh_token',
          refresh_token: 'x',
        }),
      });
    const own = await preflight(service.url);
    expect(own.headers.get('access-control-allow-origin')).toBe(service.url);
    const others = await preflight('https://evil.example');
    expect(others.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('answers to the name of this machine alone', async () => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const url = new URL('/.well-known/openid-configuration', signIn.issuer);
    request(url, { headers: { host: 'evil.example' } }, async (answer) => {
      await text(answer);
      resolve(answer.statusCode ?? 0);
    })
      .once('error', reject)
      .end();
    expect(await promise).toBe(403);
  });
});
