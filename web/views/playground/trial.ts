import type { CallRow } from '../../api/calls.ts';
import type { Client } from '../../api/client.ts';
import { RequestFailed } from '../../api/errors.ts';
import { type Answer, noAnswer, withChunk } from './answer.ts';
import { type Draft, requestOf } from './draft.ts';
import { findRecorded } from './find-recorded.ts';

/** A request that is edited and sent, and what came of it. */
export interface TrialState {
  readonly draft: Draft;
  readonly phase: 'editing' | 'sending' | 'streaming' | 'done' | 'stopped' | 'failed';
  /** The draft that was sent last; undefined before. */
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

type Listener = () => void;

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

/** An experiment with a model. It lives in the query cache, so that whoever comes back finds it. */
export class Trial {
  readonly #client: Client;
  readonly #project: string;
  readonly #service: string;
  readonly #listeners = new Set<Listener>();
  #state: TrialState;
  #sending: AbortController | undefined;

  constructor(client: Client, project: string, service: string, draft: Draft) {
    this.#client = client;
    this.#project = project;
    this.#service = service;
    this.#state = { draft, phase: 'editing', ...unsent };
  }

  readonly subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): TrialState => this.#state;

  readonly edit = (change: Partial<Draft>): void =>
    this.#set({ draft: { ...this.#state.draft, ...change }, problem: undefined });

  /** Stops the answer. What came of it stays. */
  readonly stop = (): void => this.#sending?.abort();

  /** Sends the draft, and takes the answer as it comes. */
  readonly send = async (): Promise<void> => {
    if (this.#sending) return;
    const request = requestOf(this.#state.draft);
    if ('problem' in request) {
      this.#set({ problem: request.problem });
      return;
    }
    const sending = new AbortController();
    this.#sending = sending;
    const begun = performance.now();
    const elapsed = () => performance.now() - begun;
    this.#set({ ...unsent, phase: 'sending', sent: this.#state.draft });
    let requestId: string | undefined;
    let serverTime = Date.now();
    try {
      const found = await this.#client.askModel(this.#project, request.body, sending.signal);
      ({ requestId, serverTime } = found);
      for await (const chunk of found.chunks) this.#take(chunk, elapsed());
      this.#set({ phase: 'done' });
    } catch (error) {
      if (error instanceof RequestFailed) requestId ??= error.requestId;
      this.#set(sending.signal.aborted ? { phase: 'stopped' } : { phase: 'failed', error });
    } finally {
      this.#sending = undefined;
      this.#set({ totalMs: elapsed() });
    }
    await this.#findRecorded(requestId, serverTime);
  };

  #take(chunk: unknown, ms: number): void {
    const answer = withChunk(this.#state.answer, chunk);
    const isFirst = this.#state.firstMs === undefined && (answer.text !== '' || answer.toolCalls.length > 0);
    this.#set({ phase: 'streaming', answer, ...(isFirst && { firstMs: ms }) });
  }

  async #findRecorded(requestId: string | undefined, serverTime: number): Promise<void> {
    if (requestId === undefined) return;
    const { answer } = this.#state;
    const place = { project: this.#project, requestId, serverTime };
    const recorded = await findRecorded(this.#client, this.#service, place);
    // Somebody may have sent again meanwhile.
    if (this.#state.answer === answer) this.#set({ recorded });
  }

  #set(change: Partial<TrialState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
