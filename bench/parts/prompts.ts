/**
 * What prompts take: units of making one, moving its label and reading it, by each way to name a version.
 */

import type { PromptChoice } from '../../api/prompts.ts';
import { createPrompt, movePromptLabel, readPrompt } from '../../core/records/prompts.ts';
import { type RequestBudget, requestBudget } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import type { Bench, BenchPart } from '../harness/bench.ts';
import { counted, type Figure } from '../harness/figures.ts';

const projectId = 'bench/prompts' as ProjectId;
const name = { projectId, objectId: 'support' };
const mover = { grants: [{ scope: '*', role: 'admin' }], user: 'bench' } as const;

/** A prompt of some 3,000 characters, as agents have them. */
const makeMessages = (version: number) => [
  {
    role: 'system',
    content: Array.from(
      { length: 60 },
      (_, i) => `${version}.${i} Answer the question of {customer} in ${(i * 7919) % 97} words.`,
    ).join('\n'),
  },
  { role: 'user', content: '{question}' },
];

/** Counts the units of prompts with two versions and three labels. */
export const promptFigures = async ({ newStore }: Bench): Promise<Figure[]> => {
  const store = await newStore('objects');
  const figures: Figure[] = [];
  const count = async (what: string, work: (budget: RequestBudget) => Promise<unknown>) => {
    const budget = requestBudget(60_000);
    await work(budget);
    figures.push(
      counted(`${what}: read units`, 'units', budget.meter.readUnits),
      counted(`${what}: write units`, 'units', budget.meter.writeUnits),
    );
  };
  const make = (version: number, labels: string[]) => (budget: RequestBudget) => {
    const prompt = { ...name, messages: makeMessages(version), text: null, config: { model: 'm' }, labels };
    return createPrompt(store, prompt, mover, budget);
  };
  const read =
    (choice: Partial<PromptChoice>, consistent = false) =>
    (budget: RequestBudget) => {
      const none = { label: null, versionIndex: null, digest: null };
      return readPrompt(store, { ...name, ...none, ...choice }, { consistent, at: 'query' }, budget);
    };
  await count('a version', make(0, []));
  await count('a version with three labels', make(1, ['production', 'staging', 'beta']));
  await count('a label that moves', (budget) => movePromptLabel(store, name, 'production', 0, mover, budget));
  await count('a read by label', read({ label: 'production' }));
  await count('a read of what is in production', read({}));
  await count('a read by index', read({ versionIndex: 1 }));
  await count('a read of the latest', read({ label: 'latest' }));
  await count('a read by label, strongly consistent', read({ label: 'production' }, true));
  return figures;
};

/** Units of prompts. */
export const promptPart: BenchPart = {
  name: 'prompts',
  title: 'Prompts: what making, labelling and reading one of 3,000 characters takes',
  run: async ({ bench }) => promptFigures(await bench()),
};
