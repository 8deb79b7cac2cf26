import { setTimeout as sleep } from 'node:timers/promises';
import type { Grant } from '../../foundations/auth/index.ts';
import type { Table } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import type { Deployed } from './deployed.ts';
import { NotTried, Red } from './outcomes.ts';

export { NotTried, Red } from './outcomes.ts';

/** What the checks ask, and as whom. */
export interface Target {
  /** Without a slash at its end. */
  readonly url: string;
  readonly project: ProjectId;
  /** A key that may read, write and infer in the project. */
  readonly key: string;
  /** A key that was revoked before it was ever used. */
  readonly revoked: string;
  /** What each id of this run begins with. */
  readonly run: string;
  /** When the run began, in milliseconds since 1970. */
  readonly since: number;
  /** Makes a key that is deleted at the end of the run, for seconds from now. */
  readonly makeKey: (grants: readonly Grant[], seconds: number) => Promise<string>;
  /** The table of calls. */
  readonly calls: Table;
  /** The stack of the service. @default - it is the local service, which has none */
  readonly stack?: Deployed | undefined;
  /** Models to send requests to. They cost money. */
  readonly models: readonly string[];
  /** Models that embed texts. */
  readonly embeddings: readonly string[];
  /** A function that reports by `grantReport`. */
  readonly reporter?: string | undefined;
  /** What waiting for late things is multiplied by. @default 1 */
  readonly patience?: number;
  /** Whether other callers may notice the run. */
  readonly disturb: boolean;
}

/** A promise of the documents that is tried. */
export interface Check {
  /** The same as in docs/architecture.md. */
  readonly name: string;
  /** @throws Red if the promise does not hold; NotTried if it cannot be tried here; or whatever went wrong */
  readonly run: (target: Target) => Promise<void>;
}

/** A promise of the documents that this command cannot try, and why. */
export interface Untried {
  readonly name: string;
  readonly why: string;
}

/** Where the documents list what was not seen on AWS. */
export const list = 'docs/architecture.md, "What was not tested against AWS"';
export const theLog = 'find the request in the functions’ log by its x-request-id (query "One request")';

/** Throws {@link Red} unless it holds. */
export const must = (holds: boolean, found: string, advice: string): void => {
  if (!holds) throw new Red(found, advice);
};

/**
 * The stack of the service.
 *
 * @throws NotTried for the local service
 */
export const requireStack = ({ stack }: Target): Deployed => {
  if (!stack) throw new NotTried('it needs a stack: leave --local out');
  return stack;
};

export const basic = (key: string): string => `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;

interface Request extends Omit<RequestInit, 'body' | 'headers'> {
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, or bytes as they are sent. @default - none */
  readonly body?: object | Uint8Array<ArrayBuffer>;
}

/** Sends a request with the key of this run: a POST if it has a body. */
export const ask = (
  { url, key }: Pick<Target, 'url' | 'key'>,
  path: string,
  { headers, body, ...init }: Request = {},
): Promise<Response> =>
  fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: basic(key), 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
    ...init,
  });

/** The text of an answer that has to have a status. */
export const readText = async (answer: Response, status = 200): Promise<string> => {
  const text = await answer.text();
  const id = answer.headers.get('x-request-id') ?? answer.headers.get('x-amzn-requestid');
  must(answer.status === status, `${answer.status} ${text.slice(0, 200)} (request ${id})`, theLog);
  return text;
};

export const readJson = async (answer: Response, status = 200): Promise<unknown> =>
  JSON.parse(await readText(answer, status));

/**
 * Waits for what comes late: an index, a log, a file.
 *
 * @param late says what is still missing; undefined once it is there
 * @throws Red with what was missing in the end
 */
export const eventually = async (
  { patience = 1 }: Pick<Target, 'patience'>,
  late: () => Promise<Red | undefined>,
  ms: number,
  everyMs = 500,
): Promise<void> => {
  const until = performance.now() + patience * ms;
  for (;;) {
    const missing = await late();
    if (!missing) return;
    if (performance.now() > until) throw missing;
    await sleep(everyMs);
  }
};
