import { createStore, type StoreApi } from 'zustand';
import type { Client } from '../../api/client.ts';
import { type Draft, draftMessage } from './draft.ts';
import type { StoredPrompt } from './prompt.ts';
import { isBusy, Trial } from './trial.ts';

/** The most variants that have room beside each other. */
export const maxVariants = 3;

interface TrialsState {
  /** At least one. */
  readonly trials: readonly Trial[];
}

/** A draft of its own, with the same content. */
const copyDraft = (draft: Draft): Draft => ({
  ...draft,
  messages: draft.messages.map((message) => draftMessage(message)),
});

/** Variants of a request beside each other. They are kept, and so is each trial. */
export class Trials {
  readonly store: StoreApi<TrialsState>;
  readonly #make: (draft: Draft) => Trial;

  constructor(client: Client, project: string, draft: Draft) {
    const make = (draft: Draft) => new Trial(client, project, draft);
    this.store = createStore<TrialsState>()(() => ({ trials: [make(draft)] }));
    this.#make = make;
  }

  /** Puts a copy of the last variant beside it. */
  readonly add = (): void => {
    const { trials } = this.store.getState();
    const last = trials.at(-1);
    if (last && trials.length < maxVariants)
      this.store.setState({ trials: [...trials, this.#make(copyDraft(last.store.getState().draft))] });
  };

  readonly remove = (trial: Trial): void => {
    trial.stop();
    const trials = this.store.getState().trials.filter((other) => other !== trial);
    if (trials.length > 0) this.store.setState({ trials });
  };

  /** Puts a new variant in the place of one. */
  readonly replace = (trial: Trial, draft: Draft): void => {
    trial.stop();
    this.store.setState({
      trials: this.store.getState().trials.map((other) => (other === trial ? this.#make(draft) : other)),
    });
  };

  /** Stops what is on its way. */
  readonly stop = (): void => {
    for (const trial of this.store.getState().trials) trial.stop();
  };

  /** Sends all variants that are not on their way, as {@link Trial.send} does. */
  readonly sendAll = (stored?: StoredPrompt): void => {
    for (const trial of this.store.getState().trials) if (!isBusy(trial.store.getState())) trial.send(stored);
  };
}
