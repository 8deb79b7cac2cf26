import { decide } from '../../core/workers/evaluators/index.ts';
import { streamHandler } from '../common/streams/batch.ts';
import { createWatch } from '../common/streams/evaluators.ts';

/** Made once per container, while it starts. */
const watch = createWatch();

/** Puts into a queue what evaluators are to judge of what the stream of calls tells: docs/evaluators.md. */
export const handler = streamHandler('evaluators', async (records, budget) => ({
  rows: await decide(watch, records, budget),
}));
