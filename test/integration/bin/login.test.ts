import { spawn } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LoginEnvironment, run } from '../../../bin/login.ts';
import { type LocalService, startLocalService } from '../../../local/service.ts';
import { root, temporaryFolder } from '../../support/run/project.ts';
import { browse, readSignIn, refresh } from '../../support/service/sign-in.ts';
import { serve } from '../../support/service/upstream.ts';
import { assemblyWith } from '../../support/stack/assembly.ts';
import { signInSettings } from '../../support/stack/every-setting.ts';

/*
 * `npm run login`, at the provider of `SIGN_IN=1`, with a browser that is driven over HTTP.
 */

let service: LocalService;

beforeAll(async () => {
  service = await startLocalService({
    assembly: await assemblyWith({ signIn: signInSettings }),
    signIn: 'local',
  });
});

afterAll(() => service?.stop());

const ada = () => ({ email: 'ada@example.com', password: service.openId?.password ?? '' });

/** Goes through the provider, and to where it leads back to. */
const visit = async (url: string): Promise<Response> => fetch(await browse(url, ada()));

type Browser = (url: string) => unknown;

/** Runs the command as somebody with a folder of their own. */
const makeUser = async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'pennytrace/sessions.json');
  const login = async (
    args: readonly string[],
    open: Browser = visit,
    more: Partial<LoginEnvironment> = {},
  ) => {
    const out: string[] = [];
    const err: string[] = [];
    const visits: unknown[] = [];
    const code = await run(args, {
      out: (line) => out.push(line),
      err: (line) => err.push(line),
      interactive: true,
      environment: { XDG_CONFIG_HOME: folder },
      open: (url) => visits.push(open(url)),
      ...more,
    });
    await Promise.all(visits);
    return { code, out, err: err.join('\n') };
  };
  const kept = async () => JSON.parse(await readFile(file, 'utf8'));
  /** Changes what is kept of the session with the service. */
  const change = async (fields: object) => {
    const all = await kept();
    Object.assign(all.sessions[service.url], fields);
    await writeFile(file, JSON.stringify(all));
  };
  return { file, login, kept, change };
};

const signedIn = async () => {
  const user = await makeUser();
  expect((await user.login(['--url', service.url])).code).toBe(0);
  return user;
};

const userOf = async (token: string) => {
  const answer = await fetch(`${service.url}/me`, { headers: { authorization: `Bearer ${token}` } });
  return ((await answer.json()) as { user: string }).user;
};

const nobody: Browser = () => {
  throw new Error('somebody is asked to sign in');
};

/** An origin where nothing listens. */
const nowhere = async (): Promise<string> => {
  const server = await serve(() => {});
  await server[Symbol.asyncDispose]();
  return server.origin;
};

describe('login', () => {
  it('keeps the session in a file that nobody else can read, and prints nothing on standard output', async () => {
    const { login, file, kept } = await makeUser();
    let shown = '';
    const { code, out, err } = await login(['--url', `${service.url}/`], async (url) => {
      shown = await (await visit(url)).text();
    });
    expect({ code, out }).toEqual({ code: 0, out: [] });
    expect(err).toContain(`Signed in as ada@example.com. The session is in ${file}`);
    expect(shown).toContain('You are signed in as ada@example.com');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(file, '..'))).mode & 0o777).toBe(0o700);
    expect(await kept()).toMatchObject({ latest: service.url, sessions: { [service.url]: {} } });
  });

  it('asks for a code for this machine alone, with PKCE, a state and a nonce', async () => {
    const { login } = await makeUser();
    const asked: URL[] = [];
    const { err } = await login(['--url', service.url], (url) => {
      asked.push(new URL(url));
      return visit(url);
    });
    const { redirect_uri: back, ...others } = Object.fromEntries(asked[0]?.searchParams ?? []);
    expect(back).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(others).toMatchObject({
      response_type: 'code',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^[\w-]{20,}$/),
      nonce: expect.stringMatching(/^[\w-]{20,}$/),
    });
    expect(err).toContain(asked[0]?.href);
  });

  it('leads back to the address that is named', async () => {
    const { login } = await makeUser();
    const { port } = new URL(await nowhere());
    const redirectUri = `http://localhost:${port}/callback`;
    const asked: string[] = [];
    const { code } = await login(['--url', service.url, '--redirect-uri', redirectUri], (url) => {
      asked.push(new URL(url).searchParams.get('redirect_uri') ?? '');
      return visit(url);
    });
    expect({ code, asked }).toEqual({ code: 0, asked: [redirectUri] });
  });

  it('runs as a process, whose browser somebody opens by hand', async () => {
    const folder = await temporaryFolder();
    const child = spawn(
      process.execPath,
      ['bin/login.ts', '--url', service.url, '--no-browser', '--timeout', '60'],
      { cwd: root, env: { ...process.env, XDG_CONFIG_HOME: folder } },
    );
    const out = text(child.stdout);
    let err = '';
    const exit = new Promise((resolve) => child.once('exit', resolve));
    for await (const piece of child.stderr) {
      err += piece;
      const [url] = /http:\/\/127\.0\.0\.1:\d+\/auth\?\S+(?=\s)/.exec(err) ?? [];
      if (url !== undefined && !err.includes('Signed in')) await visit(url);
    }
    expect(await exit).toBe(0);
    expect(err).toContain('Signed in as ada@example.com');
    expect(await out).toBe('');
  });
});

describe('a browser', () => {
  it('from another sign-in is turned away, and does not end this one', async () => {
    const { login } = await makeUser();
    const statuses: number[] = [];
    const { code, err } = await login(['--url', service.url], async (url) => {
      const callback = new URL(url).searchParams.get('redirect_uri') ?? '';
      for (const query of ['?code=x&state=wrong', '?error=access_denied', ''])
        statuses.push((await fetch(callback + query)).status);
      statuses.push((await fetch(new URL('/favicon.ico', callback))).status);
      statuses.push((await fetch(callback, { method: 'POST' })).status);
      statuses.push((await visit(url)).status);
    });
    expect(statuses).toEqual([400, 400, 400, 404, 405, 200]);
    expect(code).toBe(0);
    expect(err).toContain('A browser came back from another sign-in');
  });

  it('that comes back twice is dealt with once', async () => {
    const { login } = await makeUser();
    const statuses: number[] = [];
    const { code } = await login(['--url', service.url], async (url) => {
      const back = await browse(url, ada());
      statuses.push(...(await Promise.all([fetch(back), fetch(back)])).map(({ status }) => status));
    });
    expect(statuses.toSorted()).toEqual([200, 409]);
    expect(code).toBe(0);
  });

  it('that comes with a refusal of the issuer ends it, in its words without control characters', async () => {
    const { login } = await makeUser();
    const { code, err } = await login(['--url', service.url], (url) => {
      const { searchParams } = new URL(url);
      const refusal = { error: 'access_denied', error_description: 'not\u001b[31m you' };
      const query = new URLSearchParams({ state: searchParams.get('state') ?? '', ...refusal });
      return fetch(`${searchParams.get('redirect_uri')}?${query}`);
    });
    expect(code).toBe(1);
    expect(err).toContain('refused: not [31m you');
  });

  it('that comes with a code that is not the issuer’s ends it', async () => {
    const { login, file } = await makeUser();
    const { code, err } = await login(['--url', service.url], (url) => {
      const { searchParams } = new URL(url);
      const query = new URLSearchParams({
        state: searchParams.get('state') ?? '',
        code: 'made-up',
        iss: service.openId?.settings.issuer ?? '',
      });
      return fetch(`${searchParams.get('redirect_uri')}?${query}`);
    });
    expect(code).toBe(1);
    expect(err).toContain('refused:');
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });

  it('that never comes ends it when the time is over', async () => {
    const { login } = await makeUser();
    const { code, err } = await login(['--url', service.url, '--timeout', '1'], () => {});
    expect(code).toBe(1);
    expect(err).toContain('nobody signed in within 1 s');
  });
});

describe('--print', () => {
  it('prints the token alone, of the service that somebody signed in to last', async () => {
    const { login } = await signedIn();
    const { code, out, err } = await login(['--print'], nobody, { interactive: false });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toHaveLength(1);
    expect(await userOf(out[0] ?? '')).toBe('ada@example.com');
  });

  it('has headers for the helpers of MCP clients', async () => {
    const { login } = await signedIn();
    const [token] = (await login(['--print'], nobody)).out;
    const { out } = await login(['--headers'], nobody);
    expect(JSON.parse(out[0] ?? '')).toEqual({ Authorization: `Bearer ${token}` });
  });

  it('signs somebody in if a terminal is there to ask', async () => {
    const { login } = await makeUser();
    const { code, out } = await login(['--print', '--url', service.url]);
    expect(code).toBe(0);
    expect(await userOf(out[0] ?? '')).toBe('ada@example.com');
  });

  it('fails where nobody can be asked', async () => {
    const { login } = await makeUser();
    const { code, out, err } = await login(['--print', '--url', service.url], nobody, { interactive: false });
    expect({ code, out }).toEqual({ code: 1, out: [] });
    expect(err).toContain(`nobody is signed in to ${service.url}: run npm run login -- --url`);
  });

  it('renews a token that ends, once however many ask', async () => {
    const { login, change, kept } = await signedIn();
    const before = (await kept()).sessions[service.url];
    await change({ until: Date.now() - 1 });
    const answers = await Promise.all(Array.from({ length: 5 }, () => login(['--print'], nobody)));
    const tokens = new Set(answers.flatMap(({ out }) => out));
    expect(answers.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    expect(tokens.size).toBe(1);
    expect(tokens.has(before.bearer)).toBe(false);
    expect(await userOf([...tokens][0] ?? '')).toBe('ada@example.com');
    expect((await kept()).sessions[service.url].refresh).not.toBe(before.refresh);
  });

  it('asks for a sign-in once the issuer has ended the session', async () => {
    const { login, change } = await signedIn();
    await change({ until: Date.now() - 1, refresh: 'used' });
    const { code, err } = await login(['--print'], nobody, { interactive: false });
    expect(code).toBe(1);
    expect(err).toContain('nobody is signed in');
  });

  it('keeps the session while the issuer is away or too busy', async () => {
    const { login, change, kept } = await signedIn();
    const { setting } = (await kept()).sessions[service.url];
    await using busy = await serve((_, res) => res.writeHead(503).end());
    for (const [endpoint, why] of [
      [`${busy.origin}/token`, 'status 503'],
      [`${await nowhere()}/token`, 'ECONNREFUSED'],
    ] as const) {
      await change({ until: Date.now() - 1, setting: { ...setting, token_endpoint: endpoint } });
      const { code, err } = await login(['--print'], nobody);
      expect(code).toBe(1);
      expect(err).toMatch(new RegExp(`does not answer: ${why}; try again`));
    }
    await change({ setting });
    expect((await login(['--print'], nobody)).code).toBe(0);
  });
});

describe('logout', () => {
  it('removes the session here and at the issuer', async () => {
    const { login, kept } = await signedIn();
    const { refresh: token } = (await kept()).sessions[service.url];
    const { code, err } = await login(['logout']);
    expect({ code, err }).toEqual({ code: 0, err: `Signed out of ${service.url}.` });
    expect((await kept()).sessions).toEqual({});
    expect((await refresh(await readSignIn(service.url), token)).status).toBe(400);
    expect((await login(['--print'], nobody)).code).toBe(2);
  });

  it('removes it here if the issuer is away, and says so', async () => {
    const { login, kept, change } = await signedIn();
    const { setting } = (await kept()).sessions[service.url];
    await change({ setting: { ...setting, issuer: await nowhere() } });
    const { code, err } = await login(['logout', '--url', service.url]);
    expect(code).toBe(0);
    expect(err).toContain('removed here, but not ended at the issuer');
    expect((await kept()).sessions).toEqual({});
  });

  it('has nothing to do where nobody is signed in', async () => {
    const { login } = await makeUser();
    const { code, err } = await login(['logout', '--url', service.url]);
    expect({ code, err }).toEqual({ code: 0, err: `Nobody is signed in to ${service.url}.` });
  });
});

describe('what cannot be', () => {
  it('is said of a service without sign-in, one that is away, and one that is none', async () => {
    const { login } = await makeUser();
    const body = { detail: [{ loc: ['path'], msg: 'the setting signIn is off', type: 'not_found' }] };
    await using without = await serve((_, res) => res.writeHead(404).end(JSON.stringify(body)));
    await using other = await serve((_, res) => res.writeHead(200).end('<html></html>'));
    for (const [url, words] of [
      [without.origin, 'nobody can sign in to .*: the setting signIn is off'],
      [other.origin, 'does not say where people sign in \\(status 200\\)'],
      [await nowhere(), 'does not answer: ECONNREFUSED'],
    ] as const) {
      const { code, err } = await login(['--url', url], nobody);
      expect(code).toBe(1);
      expect(err).toMatch(new RegExp(words));
    }
  });

  it('is said of a service that names an issuer without TLS elsewhere', async () => {
    const { login } = await makeUser();
    const setting = { ...(await readSignIn(service.url)), token_endpoint: 'http://evil.example/token' };
    await using evil = await serve((_, res) => res.writeHead(200).end(JSON.stringify(setting)));
    const { code, err } = await login(['--url', evil.origin], nobody);
    expect(code).toBe(1);
    expect(err).toContain('names http://evil.example/token for sign-in, which is not https');
  });

  it('is said of a port that is in use', async () => {
    const { login } = await makeUser();
    await using taken = await serve(() => {});
    const { code, err } = await login(
      ['--url', service.url, '--redirect-uri', `${taken.origin}/callback`],
      nobody,
    );
    expect(code).toBe(1);
    expect(err).toContain(`port ${new URL(taken.origin).port} is in use`);
  });

  it('is said of a file that is something else', async () => {
    const { login, file } = await signedIn();
    await writeFile(file, 'x');
    const { code, err } = await login(['--print'], nobody);
    expect(code).toBe(1);
    expect(err).toContain(`${file} is not what this command writes`);
  });

  it.each([
    [[], 'give the URL of the service'],
    [['--url', 'x'], '--url: give the URL'],
    [['--url', 'http://example.com/'], 'tokens go over https alone'],
    [['--url', 'https://user@example.com/'], 'without user, query or fragment'],
    [['--url', 'https://example.com/', '--redirect-uri', 'http://example.com/'], 'http on loopback'],
    [['--url', 'https://example.com/', '--timeout', '0'], 'should be seconds'],
    [['--print', '--headers'], 'give one of them'],
    [['--nothing'], '--nothing'],
  ])('is wrong usage: %s', async (args, words) => {
    const { login } = await makeUser();
    const { code, out, err } = await login(args, nobody);
    expect({ code, out }).toEqual({ code: 2, out: [] });
    expect(err).toContain(words);
  });
});
