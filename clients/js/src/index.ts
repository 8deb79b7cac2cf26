/**
 * Prompts of pennytrace for programs. They are answered from memory, which is renewed beside; a service that is
 * slow, broken or away keeps no program from going on.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  fallbackPrompt,
  type MessagesFallback,
  type MessagesPrompt,
  type Prompt,
  PromptError,
  parsePrompt,
  type TextFallback,
  type TextPrompt,
} from './prompt.ts';

export {
  type MessagesFallback,
  type MessagesPrompt,
  type Prompt,
  type PromptConfig,
  PromptError,
  type PromptFacts,
  type PromptMessage,
  type PromptValues,
  type TextFallback,
  type TextPrompt,
} from './prompt.ts';

export interface ClientOptions {
  /** The service's URL. @default - `PENNYTRACE_URL` */
  readonly url?: string;
  /** A key with the role `read`. @default - `PENNYTRACE_KEY` */
  readonly key?: string;
  /** The project, `<entity>/<project>`. @default - `PENNYTRACE_PROJECT` */
  readonly project?: string;
  /** How long a prompt is used before it is read again. @default - 60 */
  readonly cacheSeconds?: number;
  /** How long a read may take, all its tries together. @default - 5 */
  readonly timeoutSeconds?: number;
  /** The most text in memory, in characters. What was not used for longest goes first. @default - 32 million */
  readonly maxCharacters?: number;
  /**
   * Told once when a prompt cannot be read and the program goes on with what is in memory or with the fallback,
   * and again only after it was read. @default - console.warn
   */
  readonly onError?: (error: PromptError) => void;
}

/** Which version: at most one of the three. Without any, the label `production`, or else the newest. */
export interface PromptChoice {
  readonly label?: string | undefined;
  readonly versionIndex?: number | undefined;
  readonly digest?: string | undefined;
}

type Fallback = MessagesFallback | TextFallback | undefined;

/** Which version, and what to go on with if the service has never answered. */
export interface PromptOptions<F extends Fallback = Fallback> extends PromptChoice {
  /** It also says whether messages or a text are expected. */
  readonly fallback?: F;
}

/** A prompt of the same kind as its fallback, or of either kind without one. */
export type PromptFor<F extends Fallback> = F extends MessagesFallback
  ? MessagesPrompt
  : F extends TextFallback
    ? TextPrompt
    : Prompt;

/** A prompt in memory, or on its way there. Times are those of `performance.now`. */
interface Entry {
  /** The answer, as it came; undefined before the first. */
  text?: string;
  etag?: string | null;
  /** When the service last said that this is the prompt. */
  readAt: number;
  /** When to ask next. */
  dueAt: number;
  /** The request that runs. */
  renewal?: { readonly done: Promise<void>; readonly since: number } | undefined;
  /** How often in a row it failed, and why at last. */
  failures: number;
  problem: string;
  isTold: boolean;
}

/** How long a caller waits for the renewal of what is older than the cache allows, in milliseconds. */
const patienceMs = 250;
/** The longest answer, in bytes. */
const maxAnswerBytes = 16_000_000;
/** What an entry takes beside its text, in characters. */
const entryCharacters = 500;
/** Tries of a read before anything is in memory. */
const firstTries = 3;

/** Waits between failures, in milliseconds: a second, then twice as long each time, up to a minute; jittered. */
const backOffMs = (failures: number): number =>
  Math.min(60_000, 1000 * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);

/** Reads a body as text, up to a bound. */
const readBody = async ({ body }: Response): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > maxAnswerBytes) throw new Error(`the answer is longer than ${maxAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
};

/** The words of an error's answer. */
const toProblem = (status: number, body: string): string => {
  let words = body.slice(0, 300);
  try {
    const { detail } = JSON.parse(body) as { detail: readonly { msg: string }[] };
    words = detail.map(({ msg }) => msg).join('; ');
  } catch {
    // It is not from the service, so what it says is told as it is.
  }
  return `it answered ${status}: ${words}`;
};

class AnswerError extends Error {
  /** Whether the same request may be answered otherwise in a moment. */
  readonly mayPass: boolean;
  constructor(status: number, body: string) {
    super(toProblem(status, body));
    this.mayPass = status >= 500 || status === 429;
  }
}

/** What went wrong, with what `fetch` keeps as its cause: the refused connection, say. */
const explain = (error: unknown): string => {
  const { message, cause } = error as Error;
  return cause instanceof Error
    ? `${message}: ${cause.message || (cause as { code?: string }).code}`
    : message;
};

const setting = (name: string, given: string | undefined): string => {
  const variable = `PENNYTRACE_${name.toUpperCase()}`;
  const value = given ?? process.env[variable];
  if (!value) throw new PromptError(`set ${variable}, or pass ${name} to the client`);
  return value;
};

/** Reads prompts of a project. One client serves the whole program: what is in memory is its own. */
export class PennytraceClient {
  readonly #url: string;
  readonly #authorization: string;
  readonly #project: string;
  readonly #cacheMs: number;
  readonly #timeoutMs: number;
  readonly #maxCharacters: number;
  readonly #onError: (error: PromptError) => void;
  /** By the query of the request; the one that was used last is at the end. */
  readonly #entries = new Map<string, Entry>();
  #characters = 0;

  /** @throws PromptError that says what is not set */
  constructor(options: ClientOptions = {}) {
    this.#url = setting('url', options.url).replace(/\/+$/, '');
    if (!/^https?:\/\//.test(this.#url) || !URL.canParse(this.#url))
      throw new PromptError(`the service's URL should be like https://example.com, and is ${this.#url}`);
    const key = setting('key', options.key);
    this.#authorization = `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;
    this.#project = setting('project', options.project);
    this.#cacheMs = (options.cacheSeconds ?? 60) * 1000;
    this.#timeoutMs = (options.timeoutSeconds ?? 5) * 1000;
    this.#maxCharacters = options.maxCharacters ?? 32_000_000;
    this.#onError = options.onError ?? ((error) => console.warn(error.message));
  }

  /**
   * A prompt: from memory while it is renewed beside, however long the service is away; from the fallback if the
   * service has never answered. The first read waits for the service, `timeoutSeconds` at most. What is older than
   * `cacheSeconds` waits a quarter of a second at most.
   *
   * @param name the prompt's name
   * @throws PromptError if there is neither an answer nor a fallback: it says why
   */
  async getPrompt<F extends Fallback = undefined>(
    name: string,
    { fallback, ...choice }: PromptOptions<F> = {},
  ): Promise<PromptFor<F>> {
    const query = this.#toQuery(name, choice);
    const entry = this.#use(query);
    if (!entry.renewal && performance.now() >= entry.dueAt) this.#renew(query, entry);
    await this.#wait(entry, fallback !== undefined);

    const substitute = fallback === undefined ? undefined : fallbackPrompt(name, fallback);
    const found = entry.text === undefined ? undefined : parsePrompt(entry.text);
    const isFitting = found && (!substitute || found.kind === substitute.kind);
    const problem = !found || isFitting ? entry.problem : `it is ${found.kind}, and the fallback is not`;
    const used = isFitting ? found : substitute;
    const words = `the prompt ${name} of ${this.#project} cannot be read from ${this.#url}: ${problem}`;
    if (!used) throw new PromptError(words);
    if (problem && !entry.isTold) {
      entry.isTold = true;
      const which = used.versionIndex === null ? 'the fallback' : `version ${used.versionIndex}`;
      this.#onError(new PromptError(`${words}; going on with ${which}`));
    }
    return used as PromptFor<F>;
  }

  #toQuery(name: string, { label, versionIndex, digest }: PromptChoice): string {
    const given = { label, version_index: versionIndex, digest };
    const chosen = Object.entries(given).filter(([, value]) => value !== undefined);
    if (chosen.length > 1)
      throw new PromptError(`choose at most one of label, versionIndex and digest for the prompt ${name}`);
    const query = new URLSearchParams({ project_id: this.#project, name });
    for (const [field, value] of chosen) query.set(field, String(value));
    return String(query);
  }

  /** What is in memory of a prompt, as that which was used last. */
  #use(query: string): Entry {
    const known = this.#entries.get(query);
    const entry = known ?? { readAt: 0, dueAt: 0, failures: 0, problem: '', isTold: false };
    if (!known) this.#characters += query.length + entryCharacters;
    this.#entries.delete(query);
    this.#entries.set(query, entry);
    this.#forget(query);
    return entry;
  }

  /** Keeps memory within its bound, but for what is used now. */
  #forget(used: string): void {
    for (const [query, { text = '' }] of this.#entries) {
      if (this.#characters <= this.#maxCharacters || query === used) return;
      this.#entries.delete(query);
      this.#characters -= query.length + entryCharacters + text.length;
    }
  }

  async #wait({ text, readAt, renewal, failures }: Entry, hasFallback: boolean): Promise<void> {
    if (!renewal) return;
    const now = performance.now();
    if (text === undefined) {
      // A service that failed once does not keep a program from its fallback again.
      if (!hasFallback || failures === 0) await renewal.done;
      return;
    }
    const left = renewal.since + patienceMs - now;
    if (now - readAt <= this.#cacheMs || left <= 0) return;
    const over = new AbortController();
    const waited = sleep(left, undefined, { signal: over.signal, ref: false }).catch(() => {});
    await Promise.race([renewal.done, waited]);
    over.abort();
  }

  /** Asks the service. There is one such request at a time, and it does not reject. */
  #renew(query: string, entry: Entry): void {
    const ask = async () => {
      try {
        await this.#read(query, entry);
        entry.readAt = performance.now();
        // Processes that started together ask apart from each other after a while.
        entry.dueAt = entry.readAt + this.#cacheMs * (0.9 + Math.random() / 10);
        entry.failures = 0;
        entry.problem = '';
        entry.isTold = false;
      } catch (error) {
        entry.failures += 1;
        entry.problem = explain(error);
        entry.dueAt = performance.now() + backOffMs(entry.failures);
      }
      entry.renewal = undefined;
    };
    const renewal = { done: ask(), since: performance.now() };
    entry.renewal = renewal;
  }

  async #read(query: string, entry: Entry): Promise<void> {
    const signal = AbortSignal.timeout(this.#timeoutMs);
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#request(query, entry, signal);
      } catch (error) {
        const isFinal = error instanceof AnswerError && !error.mayPass;
        if (isFinal || entry.text !== undefined || tries === firstTries || signal.aborted) throw error;
        await sleep(backOffMs(tries) / 5);
      }
    }
  }

  async #request(query: string, entry: Entry, signal: AbortSignal): Promise<void> {
    const known = entry.text !== undefined && entry.etag ? { 'if-none-match': entry.etag } : undefined;
    const response = await fetch(`${this.#url}/prompt/read?${query}`, {
      headers: { authorization: this.#authorization, accept: 'application/json', ...known },
      // The key is for this service alone.
      redirect: 'error',
      cache: 'no-store',
      signal,
    });
    const text = await readBody(response);
    if (response.status === 304 && known) return;
    if (response.status !== 200) throw new AnswerError(response.status, text);
    parsePrompt(text);
    if (this.#entries.get(query) === entry) this.#characters += text.length - (entry.text?.length ?? 0);
    entry.text = text;
    entry.etag = response.headers.get('etag');
    this.#forget(query);
  }
}

let client: PennytraceClient | undefined;

/**
 * {@link PennytraceClient.getPrompt} of a client that is set by `PENNYTRACE_URL`, `PENNYTRACE_KEY` and
 * `PENNYTRACE_PROJECT`.
 */
export const getPrompt = async <F extends Fallback = undefined>(
  name: string,
  options: PromptOptions<F> = {},
): Promise<PromptFor<F>> => {
  client ??= new PennytraceClient();
  return client.getPrompt(name, options);
};
