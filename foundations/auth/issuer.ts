import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { asString, isJsonObject, parseOptionalJson } from '../wire/index.ts';

/*
 * What is read of an issuer of OpenID Connect: its discovery document and its keys. Whatever an issuer does costs
 * a bounded time and a bounded memory, and it is asked seldom.
 */

/** An issuer does not answer, or not as it should. The message says what it did, for the log and the operator. */
export class IssuerError extends Error {
  override readonly name = 'IssuerError';
}

/** What the discovery document of an issuer says: https://openid.net/specs/openid-connect-discovery-1_0.html. */
export interface IssuerDocument {
  /** As tokens have it in `iss`. */
  readonly issuer: string;
  readonly keysUrl: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  /** Where people sign out; undefined if the issuer has no such page. */
  readonly endSessionEndpoint: string | undefined;
}

/** A public key that signs tokens, as its JSON Web Key. */
export interface SigningKey {
  readonly kty: 'RSA' | 'EC';
  readonly kid: string;
  readonly [member: string]: unknown;
}

/** The longest time for all answers of an attempt, from the first connection to the last byte, in milliseconds. */
const answerMs = 2500;

/** The issuers that there are answer at most some 30 kB. */
const maxAnswerBytes = 256 * 1024;

const maxKeys = 100;

/** The longest modulus of a key, in characters of base64: 8,192 bits. A longer one takes long to check with. */
const maxModulus = 1366;

/** How long the keys, and the document, are used before they are read again, in milliseconds. */
const keysMs = 10 * 60_000;
const documentMs = 60 * 60_000;

/** How long both are used if they cannot be read again: then an issuer that is away lets nobody in. */
const staleMs = 2 * 60 * 60_000;

/** The pause between two attempts, since a key that is not there or an issuer that fails may be asked for any time. */
const pauseMs = 15_000;

/**
 * The longest time that a request waits for an attempt after one that failed, in milliseconds. An issuer that is well
 * answers within it, and one that hangs costs no more. Now and then a request waits as long as for a first attempt,
 * since a slow issuer is none that hangs, and a container that sleeps between requests reads nothing meanwhile.
 */
const retryMs = 500;
const patientEveryMs = 2 * 60_000;

/** Whether a URL may be read: `https:`, or `http:` on this machine where the issuer itself is there. */
export const isIssuerUrl = (text: string, { loopback }: { readonly loopback: boolean }): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, hash } = new URL(text);
  if (username || password || hash) return false;
  return protocol === 'https:' || (loopback && protocol === 'http:' && isLoopback(hostname));
};

const isLoopback = (hostname: string): boolean => ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);

const readBody = async (response: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.byteLength;
    if (bytes > maxAnswerBytes) throw new IssuerError(`answers more than ${maxAnswerBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
};

/** Follows no redirect: what an operator wrote is what is asked. */
const readJson = async (url: string, signal: AbortSignal): Promise<unknown> => {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  const { promise: answer, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // A container asks so seldom that a kept connection would mostly be closed by then.
  const sent = send(url, { headers: { accept: 'application/json' }, agent: false, signal }, resolve);
  sent.on('error', reject).end();
  try {
    const response = await answer;
    if (response.statusCode !== 200) throw new IssuerError(`answers ${response.statusCode}`);
    const value = parseOptionalJson(await readBody(response));
    if (!isJsonObject(value)) throw new IssuerError('answers no JSON object');
    return value;
  } catch (error) {
    if (error instanceof IssuerError) throw new IssuerError(`${url} ${error.message}`);
    // `GET /sign-in` tells anybody: an address behind the name is none of their business.
    const { code = 'it broke off' } = error as { readonly code?: string };
    const why = signal.aborted ? ` within ${answerMs} ms` : `: ${code}`;
    throw new IssuerError(`${url} does not answer${why}`, { cause: error });
  } finally {
    sent.destroy();
  }
};

const withoutSlash = (url: string): string => url.replace(/\/$/, '');

const readDocument = async (issuer: string, signal: AbortSignal): Promise<IssuerDocument> => {
  const url = `${withoutSlash(issuer)}/.well-known/openid-configuration`;
  const value = await readJson(url, signal);
  const loopback = issuer.startsWith('http:');
  const textAt = (name: string): string | undefined =>
    isJsonObject(value) ? asString(value[name]) : undefined;
  const endpoint = (name: string): string => {
    const text = textAt(name);
    if (text !== undefined && isIssuerUrl(text, { loopback })) return text;
    throw new IssuerError(`${url} has no ${name} that may be used`);
  };
  const own = textAt('issuer') ?? '';
  // Some write their name with a slash at its end, and operators leave it out.
  if (withoutSlash(own) !== withoutSlash(issuer))
    throw new IssuerError(`${url} is of another issuer, ${JSON.stringify(own.slice(0, 200))}`);
  return {
    issuer: own,
    keysUrl: endpoint('jwks_uri'),
    authorizationEndpoint: endpoint('authorization_endpoint'),
    tokenEndpoint: endpoint('token_endpoint'),
    endSessionEndpoint:
      textAt('end_session_endpoint') === undefined ? undefined : endpoint('end_session_endpoint'),
  };
};

const isSigningKey = (key: unknown): key is SigningKey => {
  if (!isJsonObject(key) || typeof key.kid !== 'string' || (key.use ?? 'sig') !== 'sig') return false;
  if (key.kty === 'EC') return true;
  return key.kty === 'RSA' && typeof key.n === 'string' && key.n.length <= maxModulus && key.e === 'AQAB';
};

/** Reads the keys of an issuer. Those that sign no tokens, or that nobody uses, are left out. */
const readKeys = async (url: string, signal: AbortSignal): Promise<readonly SigningKey[]> => {
  const value = await readJson(url, signal);
  const keys = isJsonObject(value) && Array.isArray(value.keys) ? value.keys : [];
  if (keys.length === 0) throw new IssuerError(`${url} has no keys`);
  if (keys.length > maxKeys) throw new IssuerError(`${url} has more than ${maxKeys} keys`);
  return (keys as readonly unknown[]).filter(isSigningKey);
};

/**
 * Something of an issuer that is read again when it is old or lacks something, and used a while longer if that
 * fails. It is asked for once at a time, and after an attempt not before a pause is over. Nobody waits for long: an
 * attempt that takes longer goes on for those who come later.
 */
class Kept<T> {
  readonly #read: (signal: AbortSignal) => Promise<T>;
  readonly #freshMs: number;
  #value: T | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  /** When the last attempt began that is waited for to its end. */
  #patientAt = Number.NEGATIVE_INFINITY;
  /** Until when the present attempt is waited for. */
  #waitUntil = Number.NEGATIVE_INFINITY;
  /** Why the last attempt failed; undefined if it did not. */
  #error: unknown;
  #pending: Promise<void> | undefined;

  constructor(read: (signal: AbortSignal) => Promise<T>, freshMs: number) {
    this.#read = read;
    this.#freshMs = freshMs;
  }

  /**
   * @param suffices whether what is known has what is looked for. @default - it has
   * @throws IssuerError if it cannot be read, and what is known is too old
   */
  async get(suffices: (value: T) => boolean = () => true): Promise<T> {
    const isFresh = this.#value !== undefined && Date.now() - this.#readAt < this.#freshMs;
    const isEnough = isFresh && this.#value !== undefined && suffices(this.#value);
    if (!isEnough) {
      if (!this.#pending && Date.now() - this.#triedAt >= pauseMs) this.#begin();
      await this.#wait();
    }
    if (this.#value === undefined || Date.now() - this.#readAt > staleMs) throw this.#error;
    return this.#value;
  }

  #begin(): void {
    const now = Date.now();
    const isPatient = this.#error === undefined || now - this.#patientAt >= patientEveryMs;
    if (isPatient) this.#patientAt = now;
    this.#triedAt = now;
    this.#waitUntil = isPatient ? Number.POSITIVE_INFINITY : now + retryMs;
    this.#pending = this.#readAgain();
  }

  /** Waits for the attempt that is under way, if there is one and its time is not up. */
  async #wait(): Promise<void> {
    const leftMs = this.#waitUntil - Date.now();
    if (!this.#pending || leftMs <= 0) return;
    if (leftMs === Number.POSITIVE_INFINITY) return this.#pending;
    const enough = new AbortController();
    const timeUp = delay(leftMs, undefined, { signal: enough.signal }).catch(() => {});
    await Promise.race([this.#pending, timeUp]);
    enough.abort();
  }

  async #readAgain(): Promise<void> {
    try {
      this.#value = await this.#read(AbortSignal.timeout(answerMs));
      this.#readAt = Date.now();
      this.#error = undefined;
    } catch (error) {
      this.#error = error;
    } finally {
      this.#pending = undefined;
    }
  }
}

/** An issuer of OpenID Connect, as far as a container knows it. */
export class Issuer {
  readonly #document: Kept<IssuerDocument>;
  readonly #keys: Kept<readonly SigningKey[]>;

  /** @param url the issuer: `https:`, or `http:` on this machine */
  constructor(url: string) {
    this.#document = new Kept((signal) => readDocument(url, signal), documentMs);
    this.#keys = new Kept(async (signal) => readKeys((await this.#document.get()).keysUrl, signal), keysMs);
  }

  /** Reads its discovery document, or takes what is known. Throws an IssuerError if there is none. */
  getDocument(): Promise<IssuerDocument> {
    return this.#document.get();
  }

  /**
   * Gets its keys, the same list until they are read again. There may be a new one any moment, so an unknown id
   * has them read again.
   *
   * @throws IssuerError if there are no keys
   */
  getKeys(kid: string): Promise<readonly SigningKey[]> {
    return this.#keys.get((keys) => keys.some((key) => key.kid === kid));
  }
}
