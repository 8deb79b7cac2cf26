import type { Convention } from './convention.ts';

/**
 * Names that Weave reads from any span. Projects are chosen where the export is taken apart.
 * Source: wandb/weave, `weave/trace_server/opentelemetry/constants.py`.
 */
export const weave: Convention = {
  matches: ({ namespaces }) => namespaces.has('wandb'),
  thread: ['wandb.thread_id'],
  user: ['wandb.user_id'],
};
