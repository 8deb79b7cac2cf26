import { createStore, type StoreApi } from 'zustand';
import { readTokens } from '../../../api/shared/usage.ts';
import type { CallRow } from '../../api/calls.ts';
import type { Client } from '../../api/client.ts';
import type { CallsQuery } from '../../api/contract.ts';
import { RequestFailed } from '../../api/http.ts';
import { isObject } from '../../data/values.ts';
import { type Draft, fillDraft, toRequest } from './draft.ts';
import { isMadeOf, type StoredPrompt } from './prompt.ts';

/** An answer as far as it came. */
export interface Answer {
  readonly text: string;
  /** What the model thought before, if it says so. */
  readonly thinking: string;
  /** Calls of tools, in OpenAI's shape. */
  readonly toolCalls: readonly ToolCall[];
  readonly finish: string | undefined;
  readonly tokens:
    | {
        readonly input: number;
        readonly output: number;
        readonly cached: number;
        readonly reasoning: number;
      }
    | undefined;
  /** What the provider says went wrong. */
  readonly error: string | undefined;
}

interface ToolCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

export const noAnswer: Answer = {
  text: '',
  thinking: '',
  toolCalls: [],
  finish: undefined,
  tokens: undefined,
  error: undefined,
};

const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');

const usedTokens = (usage: object): Answer['tokens'] => {
  const { prompt, completion, cacheRead: cached, reasoning } = readTokens(usage);
  return { input: prompt, output: completion, cached, reasoning };
};

/** Puts a piece of a tool call to the call that it belongs to. */
const withPiece = (calls: readonly ToolCall[], piece: unknown): readonly ToolCall[] => {
  if (!isObject(piece)) return calls;
  const at = typeof piece.index === 'number' ? piece.index : calls.length;
  // Providers count from 0; anything else would make a list with holes.
  if (at < 0 || at > calls.length) return calls;
  const { name, arguments: written } = isObject(piece.function) ? piece.function : {};
  const before = calls[at];
  const call: ToolCall = {
    id: before?.id || textOrEmpty(piece.id),
    function: {
      name: before?.function.name || textOrEmpty(name),
      arguments: (before?.function.arguments ?? '') + textOrEmpty(written),
    },
  };
  return [...calls.slice(0, at), call, ...calls.slice(at + 1)];
};

const getMessage = (error: unknown): string =>
  isObject(error)
    ? textOrEmpty(error.message) || JSON.stringify(error)
    : textOrEmpty(error) || 'an unknown error';

/**
 * Adds a chunk of a streamed chat to an answer, or takes a whole answer as one chunk. Only the
 * first choice is shown.
 */
export const withChunk = (answer: Answer, chunk: unknown): Answer => {
  if (!isObject(chunk)) return answer;
  const { choices, usage, error } = chunk;
  const [choice] = Array.isArray(choices) ? (choices as unknown[]) : [];
  const fields = isObject(choice) ? choice : {};
  const delta = isObject(fields.delta) ? fields.delta : isObject(fields.message) ? fields.message : {};
  const pieces = Array.isArray(delta.tool_calls) ? (delta.tool_calls as unknown[]) : [];
  return {
    text: answer.text + textOrEmpty(delta.content) + textOrEmpty(delta.refusal),
    thinking: answer.thinking + (textOrEmpty(delta.reasoning_content) || textOrEmpty(delta.reasoning)),
    toolCalls: pieces.reduce<readonly ToolCall[]>(withPiece, answer.toolCalls),
    finish: textOrEmpty(fields.finish_reason) || answer.finish,
    tokens: isObject(usage) ? usedTokens(usage) : answer.tokens,
    error: error ? getMessage(error) : answer.error,
  };
};

/** What is known of a request that the service records. */
interface Recorded {
  readonly project: string;
  readonly requestId: string;
  /** When it was answered by the service's clock, in ms since 1970. */
  readonly serverTime: number;
}

/** The call is written once the answer has gone out: pauses before each look for it, in ms. */
const pauses = [250, 500, 1000, 2000, 4000];

/** How long before its answer a request may have come, in ms: as long as the service waits. */
const maxWaitMs = 15 * 60_000;

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

const requestFor = ({ project, requestId, serverTime }: Recorded): CallsQuery => ({
  project_id: project,
  filter: { trace_roots_only: true },
  query: {
    $expr: {
      $and: [
        {
          $gte: [{ $getField: 'started_at' }, { $literal: new Date(serverTime - maxWaitMs).toISOString() }],
        },
        { $eq: [{ $getField: 'attributes.inference.request_id' }, { $literal: requestId }] },
      ],
    },
  },
  sort_by: [{ field: 'started_at', direction: 'desc' }],
  limit: 1,
  columns: ['ended_at'],
});

/** The call that the service made of a request; null if it is not there after some seconds. */
const findRecorded = async (client: Client, recorded: Recorded): Promise<CallRow | null> => {
  for (const pause of pauses) {
    await sleep(pause);
    try {
      for await (const batch of client.stream('/calls/stream_query', requestFor(recorded)))
        for (const row of batch) return row;
    } catch {
      // The next look may succeed; without it the answer is there all the same.
    }
  }
  return null;
};

/** A request that is edited and sent, and what came of it. */
export interface TrialState {
  readonly draft: Draft;
  readonly phase: 'editing' | 'sending' | 'streaming' | 'done' | 'stopped' | 'failed';
  /** The draft that was sent last, with its variables filled in; undefined before. */
  readonly sent: Draft | undefined;
  readonly answer: Answer;
  /** What is wrong with the draft; undefined if it can be sent. */
  readonly problem: string | undefined;
  readonly error: unknown;
  /** From sending to the first piece of the answer, and to its end, in ms. */
  readonly firstMs: number | undefined;
  readonly totalMs: number | undefined;
  /** The call that the service recorded; null if it was not found. */
  readonly recorded: CallRow | null | undefined;
}

const unsent = {
  sent: undefined,
  answer: noAnswer,
  problem: undefined,
  error: undefined,
  firstMs: undefined,
  totalMs: undefined,
  recorded: undefined,
} as const;

/** Whether something is on its way. */
export const isBusy = ({ phase }: TrialState): boolean => phase === 'sending' || phase === 'streaming';

let count = 0;

/** An experiment with a model. It is kept, so that whoever comes back finds it. */
export class Trial {
  /** Tells trials apart. */
  readonly number = ++count;
  readonly store: StoreApi<TrialState>;
  readonly #client: Client;
  readonly #project: string;
  #sending: AbortController | undefined;

  constructor(client: Client, project: string, draft: Draft) {
    this.store = createStore<TrialState>()(() => ({ draft, phase: 'editing', ...unsent }));
    this.#client = client;
    this.#project = project;
  }

  readonly edit = (change: Partial<Draft>): void =>
    this.store.setState({ draft: { ...this.store.getState().draft, ...change }, problem: undefined });

  /** Stops the answer. What came of it stays. */
  readonly stop = (): void => this.#sending?.abort();

  /**
   * Sends the draft, and takes the answer as it comes.
   *
   * @param stored the version of a prompt that the call names if it is sent unchanged @default - none
   */
  readonly send = async (stored?: StoredPrompt): Promise<void> => {
    if (this.#sending) return;
    const { draft } = this.store.getState();
    const request = toRequest(draft);
    if ('problem' in request) {
      this.store.setState({ problem: request.problem });
      return;
    }
    const sending = new AbortController();
    this.#sending = sending;
    const startMs = performance.now();
    const elapsed = () => performance.now() - startMs;
    this.store.setState({ ...unsent, phase: 'sending', sent: fillDraft(draft) });
    let requestId: string | undefined;
    let serverTime = Date.now();
    try {
      const found = await this.#client.askModel(
        this.#project,
        request.body,
        {
          source: 'playground',
          ...(stored && isMadeOf(draft, stored) && { prompt: stored }),
        },
        sending.signal,
      );
      ({ requestId, serverTime } = found);
      for await (const chunk of found.chunks) this.#take(chunk, elapsed());
      this.store.setState({ phase: 'done' });
    } catch (error) {
      if (error instanceof RequestFailed) requestId ??= error.requestId;
      this.store.setState(sending.signal.aborted ? { phase: 'stopped' } : { phase: 'failed', error });
    } finally {
      this.#sending = undefined;
      this.store.setState({ totalMs: elapsed() });
    }
    await this.#findRecorded(requestId, serverTime);
  };

  #take(chunk: unknown, ms: number): void {
    const answer = withChunk(this.store.getState().answer, chunk);
    const isFirst =
      this.store.getState().firstMs === undefined && (answer.text !== '' || answer.toolCalls.length > 0);
    this.store.setState({ phase: 'streaming', answer, ...(isFirst && { firstMs: ms }) });
  }

  async #findRecorded(requestId: string | undefined, serverTime: number): Promise<void> {
    if (requestId === undefined) return;
    const { answer } = this.store.getState();
    const place = { project: this.#project, requestId, serverTime };
    const recorded = await findRecorded(this.#client, place);
    // Somebody may have sent again meanwhile.
    if (this.store.getState().answer === answer) this.store.setState({ recorded });
  }
}
