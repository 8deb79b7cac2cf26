import type { Client } from '../../api/client.ts';
import { Store } from '../../data/store.ts';
import { type Draft, draftMessage } from './draft.ts';
import { isBusy, Trial } from './trial.ts';

/** The most variants that have room beside each other. */
export const maxVariants = 3;

interface TrialsState {
  /** At least one. */
  readonly trials: readonly Trial[];
}

/** A draft of its own, with the same content. */
const copyOf = (draft: Draft): Draft => ({
  ...draft,
  messages: draft.messages.map((of) => draftMessage(of)),
});

/** Variants of a request beside each other. They live in the query cache, as each trial does. */
export class Trials extends Store<TrialsState> {
  readonly #make: (draft: Draft) => Trial;

  constructor(client: Client, project: string, draft: Draft) {
    const make = (of: Draft) => new Trial(client, project, of);
    super({ trials: [make(draft)] });
    this.#make = make;
  }

  /** Puts a copy of the last variant beside it. */
  readonly add = (): void => {
    const { trials } = this.snapshot();
    const last = trials.at(-1);
    if (last && trials.length < maxVariants)
      this.set({ trials: [...trials, this.#make(copyOf(last.snapshot().draft))] });
  };

  readonly remove = (trial: Trial): void => {
    trial.stop();
    const trials = this.snapshot().trials.filter((other) => other !== trial);
    if (trials.length > 0) this.set({ trials });
  };

  /** Puts a new variant in the place of one. */
  readonly replace = (trial: Trial, draft: Draft): void => {
    trial.stop();
    this.set({
      trials: this.snapshot().trials.map((other) => (other === trial ? this.#make(draft) : other)),
    });
  };

  /** Stops what is on its way. */
  readonly stop = (): void => {
    for (const trial of this.snapshot().trials) trial.stop();
  };

  /** Sends all variants that are not on their way. */
  readonly sendAll = (): void => {
    for (const trial of this.snapshot().trials) if (!isBusy(trial.snapshot())) trial.send();
  };
}
