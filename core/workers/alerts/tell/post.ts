import { type LookupAddress, lookup } from 'node:dns';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { RequestBudget } from '../../../../foundations/storage/index.ts';
import { isLoopbackAddress, isPublicAddress } from './address.ts';

/** Finds the addresses of a host's name. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** How requests go out of the service. */
export interface Outside {
  /** Whether http and https to this machine are allowed, as on the local service alone. */
  readonly loopback?: boolean;
  /** @default - the system's resolver */
  readonly resolve?: Resolve;
}

/** Somebody was not told. The message never has the URL, which is a secret, nor has any cause. */
export class Undelivered extends Error {
  override readonly name = 'Undelivered';
}

/** The longest that one request may take, to the end of its answer, in milliseconds. */
const totalMs = 5000;

/** What is read of an answer, in bytes. Its status alone counts. */
const maxAnswerBytes = 16 * 1024;

const systemResolve: Resolve = (host) =>
  new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });

/**
 * What is wrong with the URL of a webhook by itself, wherever its host may lead.
 *
 * @returns undefined if nothing is
 */
export const urlProblem = (
  text: string,
  { loopback = false }: Pick<Outside, 'loopback'> = {},
): string | undefined => {
  if (!URL.canParse(text)) return 'it is not a URL';
  const { protocol, hostname, username, password } = new URL(text);
  if (protocol !== 'https:' && !(loopback && protocol === 'http:')) return 'it does not begin with https://';
  if (username || password) return 'it has a user or a password';
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) && !isAllowed(host, protocol, loopback)) return 'its address is not public';
  return undefined;
};

/** Plain http is for this machine alone, and this machine for the local service alone. */
const isAllowed = (address: string, protocol: string, loopback: boolean): boolean =>
  (loopback && isLoopbackAddress(address)) || (protocol === 'https:' && isPublicAddress(address));

/**
 * The addresses of a URL's host, which the request then goes to: a name that leads elsewhere a moment
 * later does not take it along. One address that is not allowed is enough to refuse all.
 */
const resolveAddresses = async (
  { hostname, protocol }: URL,
  { loopback = false, resolve = systemResolve }: Outside,
): Promise<readonly LookupAddress[]> => {
  const host = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  const addresses = family ? [{ address: host, family }] : await resolve(host).catch(() => []);
  if (addresses.length === 0) throw new Undelivered('the name of its host is not known');
  if (!addresses.every(({ address }) => isAllowed(address, protocol, loopback)))
    throw new Undelivered('its host has an address that is not public');
  return addresses;
};

/** Waits for the answer, and for its end as long as that is near. */
const answerTo = (request: ClientRequest, signal: AbortSignal): Promise<number> =>
  new Promise((resolve, reject) => {
    request.on('error', reject);
    request.once('response', (answer: IncomingMessage) => {
      const { statusCode = 0 } = answer;
      const done = () => {
        answer.destroy();
        resolve(statusCode);
      };
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxAnswerBytes) done();
      });
      // The status has come: what becomes of the rest does not matter.
      answer.once('end', done).on('error', done).once('close', done);
      signal.addEventListener('abort', done, { once: true });
    });
  });

/** Why a request failed, in words that show nothing of the URL. */
const toReason = (error: unknown, isLate: boolean): string => {
  if (isLate) return `it did not answer in time`;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO|ALTNAME/.test(code))
    return `its certificate is not valid (${code})`;
  if (code === 'HPE_HEADER_OVERFLOW') return 'the headers of its answer are too long';
  return `no connection to it, or none that lasted${code && ` (${code})`}`;
};

/**
 * POSTs a body to a URL outside, once and without following redirects.
 *
 * @returns when it was answered with a status of success
 * @throws Undelivered that says what failed; the AbortError of a signal
 */
export const postOutside = async (
  text: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  outside: Outside,
  { deadline, signal: gone }: Pick<RequestBudget, 'deadline' | 'signal'>,
): Promise<void> => {
  const problem = urlProblem(text, outside);
  if (problem !== undefined) throw new Undelivered(problem);
  const url = new URL(text);
  const timeout = AbortSignal.timeout(Math.max(0, Math.min(totalMs, deadline - Date.now())));
  const signal = gone ? AbortSignal.any([gone, timeout]) : timeout;
  const bytes = Buffer.from(body);
  let status: number;
  try {
    const addresses = await inTime(resolveAddresses(url, outside), signal);
    // A constant of its own, since Node's types do not know that requests take `autoSelectFamily`.
    const options = {
      method: 'POST',
      agent: false,
      autoSelectFamily: true,
      signal,
      headers: { ...headers, 'content-length': bytes.length },
      lookup: ((_host, _options, found) => found(null, [...addresses])) satisfies LookupFunction,
    };
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options);
    const answered = answerTo(request, signal);
    request.end(bytes);
    status = await answered;
  } catch (error) {
    gone?.throwIfAborted();
    if (error instanceof Undelivered) throw error;
    throw new Undelivered(toReason(error, timeout.aborted));
  }
  if (status >= 300 && status < 400)
    throw new Undelivered(`it answered ${status}: redirects are not followed`);
  if (status < 200 || status >= 300) throw new Undelivered(`it answered ${status}`);
};

/** Waits for something no longer than a signal allows. */
const inTime = <T>(task: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    task.then(resolve, reject);
  });
