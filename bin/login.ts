/** `npm run login` and `logout`: sign in to a service as a person. See docs/people.md. */

import { spawn } from 'node:child_process';
import { type CommandOutput, Failure, parseFlags, processOutput, runCommand, UsageError } from './common.ts';
import {
  askService,
  begin,
  finish,
  readSignIn,
  renew,
  revoke,
  type Session,
  SessionEnded,
  shown,
} from './login/issuer.ts';
import { changeKept, keptFile, readKept, withoutSession, withSession } from './login/kept.ts';
import { isLoopbackUrl, listenAt } from './login/loopback.ts';

const defaultSeconds = 300;

export const help = `Sign in to a service as a person, where it has the setting signIn.

  npm run login -- --url https://….execute-api.eu-west-1.amazonaws.com/api/
  npm run login -- --print
  npm run logout -- [--url URL]

login opens a browser, and keeps the token and what renews it in a file that only you can read.

  --url URL           the service, as the stack's output ApiUrl has it. Without it: PENNYTRACE_URL, or the
                      service that you signed in to last
  --print             print the token alone on standard output. It is renewed if it has to be; if nobody is signed
                      in, a terminal is asked to, and anything else gets an error
  --headers           the same as JSON, {"Authorization": "Bearer …"}, for the header helpers of MCP clients
  --no-browser        only print the address to open, in a browser of this machine
  --redirect-uri URL  where the issuer leads back to, http on loopback. It has to be registered there. Without a
                      port, any free one. Default: what the service says, or http://127.0.0.1/callback
  --timeout SECONDS   how long to wait for the browser, 1 to 3600 (default: ${defaultSeconds})
logout ends the session at the issuer and removes it here
  --url URL           as above

Exit code: 0 done, 1 failed, 2 wrong usage.`;

/** What is printed: nothing, the token, or headers with it. */
type Printed = 'nothing' | 'token' | 'headers';

interface LoginOptions {
  readonly url: string | undefined;
  readonly printed: Printed;
  readonly browser: boolean;
  readonly redirectUri: string | undefined;
  readonly seconds: number;
}

/** What the command works with. */
export interface LoginEnvironment extends CommandOutput {
  /** Whether somebody reads what is written to standard error. */
  readonly interactive: boolean;
  readonly environment: NodeJS.ProcessEnv;
  /** Opens an address in a browser, if there is one. */
  readonly open: (url: string) => void;
}

/** @throws UsageError unless it is the URL of a service */
const parseUrl = (text: string, name: string): string => {
  if (!URL.canParse(text))
    throw new UsageError(`${name}: give the URL of the service, the output ApiUrl of the stack`);
  const { protocol, hostname, username, search, hash } = new URL(text);
  if (username || search || hash)
    throw new UsageError(`${name}: give the URL of the service without user, query or fragment`);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopbackUrl(`http://${hostname}/`)))
    throw new UsageError(`${name}: tokens go over https alone, or to this machine`);
  return text.replace(/\/+$/, '');
};

const parseSeconds = (text = String(defaultSeconds)): number => {
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= 3600) return Number(text);
  throw new UsageError(`--timeout ${text}: should be seconds, 1 to 3600`);
};

const urlOption = { url: { type: 'string' } } as const;

const parseLogin = (args: string[]): LoginOptions => {
  const { values } = parseFlags({
    args,
    options: {
      ...urlOption,
      print: { type: 'boolean' },
      headers: { type: 'boolean' },
      'no-browser': { type: 'boolean' },
      'redirect-uri': { type: 'string' },
      timeout: { type: 'string' },
    },
  });
  const { print = false, headers = false, 'redirect-uri': redirectUri, 'no-browser': quiet = false } = values;
  if (print && headers)
    throw new UsageError('--print and --headers each say what to print: give one of them');
  if (redirectUri !== undefined && !isLoopbackUrl(redirectUri))
    throw new UsageError(
      `--redirect-uri ${redirectUri}: should be http on loopback: http://localhost:8789/callback`,
    );
  return {
    url: values.url === undefined ? undefined : parseUrl(values.url, '--url'),
    printed: headers ? 'headers' : print ? 'token' : 'nothing',
    browser: !quiet,
    redirectUri,
    seconds: parseSeconds(values.timeout),
  };
};

/** The service that is meant. Throws a UsageError if nothing says which. */
const findUrl = async (url: string | undefined, file: string, environment: NodeJS.ProcessEnv) => {
  if (url !== undefined) return url;
  const { PENNYTRACE_URL: named } = environment;
  if (named) return parseUrl(named, 'PENNYTRACE_URL');
  const { latest } = await readKept(file);
  if (latest !== undefined) return latest;
  throw new UsageError('give the URL of the service: --url https://…/api/, or PENNYTRACE_URL');
};

/** Who the service takes somebody for. Throws a Failure if it does not take the token. */
const readUser = async (url: string, { bearer, setting }: Session) => {
  const answer = await askService(url, '/me', { authorization: `Bearer ${bearer}` });
  if (answer.status === 401)
    throw new Failure(
      `${url} does not take the token of ${setting.issuer}: compare the setting signIn with docs/people.md; the authorizer's log says why`,
    );
  if (!answer.ok) throw new Failure(`${url} answers ${answer.status} to GET /me: try again`);
  const { user, grants } = (await answer.json()) as { user: string; grants: readonly unknown[] };
  return { user: shown(user), mayNothing: grants.length === 0 };
};

/** Signs somebody in by a browser, and keeps the session. */
const signIn = async (
  url: string,
  file: string,
  { browser, redirectUri: wanted, seconds }: LoginOptions,
  { err, open }: LoginEnvironment,
): Promise<Session> => {
  const found = await readSignIn(url);
  const redirectUri = wanted ?? found.setting.loopback_redirect_uri ?? 'http://127.0.0.1/callback';
  if (!isLoopbackUrl(redirectUri)) throw new Failure(`${url} names ${shown(redirectUri)} to come back to`);
  await using loopback = await listenAt(redirectUri);
  const begun = await begin(found, loopback.redirectUri);
  err(`Sign in to ${url} in a browser of this machine:\n\n  ${begun.url}\n`);
  if (browser) open(begun.url);
  const back = await loopback.wait(begun.state, seconds, () =>
    err('A browser came back from another sign-in. This one still waits.'),
  );
  try {
    const session = await finish(begun, back.parameters);
    const { user, mayNothing } = await readUser(url, session);
    await changeKept(file, async (kept) => withSession(kept, url, session));
    err(`Signed in as ${user}. The session is in ${file}; npm run logout ends it.`);
    if (mayNothing) err(`${user} may do nothing there yet: an administrator has to make you a member.`);
    await back.show(200, `You are signed in as ${user}. You can close this page.`);
    return session;
  } catch (error) {
    await back.show(400, 'The sign-in failed: the terminal says why. You can close this page.');
    throw error;
  }
};

/** A session that is good for a while, renewed if it has to be; undefined if somebody has to sign in. */
const findSession = async (url: string, file: string): Promise<Session | undefined> => {
  const isGood = ({ until }: Session) => Date.now() < until;
  const { [url]: before } = (await readKept(file)).sessions;
  if (before === undefined || isGood(before)) return before;
  let found: Session | undefined;
  await changeKept(file, async (kept) => {
    // Another process may have renewed it since.
    found = kept.sessions[url];
    if (found === undefined || isGood(found)) return undefined;
    const { setting, skew } = await readSignIn(url);
    if (setting.issuer !== found.setting.issuer || setting.client_id !== found.setting.client_id) {
      found = undefined;
      return withoutSession(kept, url);
    }
    try {
      found = await renew(found, skew);
    } catch (error) {
      if (!(error instanceof SessionEnded)) throw error;
      found = undefined;
      return withoutSession(kept, url);
    }
    return { ...withSession(kept, url, found), latest: kept.latest };
  });
  return found;
};

const login = async (args: string[], io: LoginEnvironment): Promise<void> => {
  const options = parseLogin(args);
  const file = keptFile(io.environment);
  const url = await findUrl(options.url, file, io.environment);
  const { printed } = options;
  const session = printed === 'nothing' ? undefined : await findSession(url, file);
  if (session === undefined && printed !== 'nothing' && !io.interactive)
    throw new Failure(`nobody is signed in to ${url}: run npm run login -- --url ${url} in a terminal first`);
  const { bearer } = session ?? (await signIn(url, file, options, io));
  if (printed === 'token') io.out(bearer);
  if (printed === 'headers') io.out(JSON.stringify({ Authorization: `Bearer ${bearer}` }));
};

const logout = async (args: string[], { err, environment }: LoginEnvironment): Promise<void> => {
  const { values } = parseFlags({ args, options: urlOption });
  const file = keptFile(environment);
  const given = values.url === undefined ? undefined : parseUrl(values.url, '--url');
  const url = await findUrl(given, file, environment);
  let ended: Session | undefined;
  await changeKept(file, async (kept) => {
    ended = kept.sessions[url];
    return ended && withoutSession(kept, url);
  });
  if (ended === undefined) return err(`Nobody is signed in to ${url}.`);
  try {
    await revoke(ended);
    err(`Signed out of ${url}.`);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    err(`The session with ${url} is removed here, but not ended at the issuer: ${error.message}.`);
  }
};

/**
 * Runs the command.
 *
 * @param argv the arguments after the command's name, or `logout` and its arguments
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage
 */
export const run = (argv: readonly string[], io: LoginEnvironment): Promise<0 | 1 | 2> => {
  const [first, ...rest] = argv;
  return first === 'logout'
    ? runCommand({ name: 'logout', help, argv: rest }, io, () => logout(rest, io))
    : runCommand({ name: 'login', help, argv }, io, () => login([...argv], io));
};

/** What opens an address, by platform. */
const openers: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

const openInBrowser = (url: string): void => {
  const [command, ...args] = openers[process.platform] ?? ['xdg-open'];
  const browser = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
  // Whoever has no browser here has the address.
  browser.on('error', () => {});
  browser.unref();
};

export const main = (argv: readonly string[]): Promise<number> =>
  run(argv, {
    ...processOutput,
    interactive: process.stderr.isTTY === true,
    environment: process.env,
    open: openInBrowser,
  });

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
