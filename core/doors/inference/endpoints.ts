/**
 * The forwarded paths below `/inference/v1`, each with the operation name of its recorded calls.
 * The names are those that the tracing of OpenAI's own clients uses.
 */
export const endpoints = {
  '/chat/completions': 'openai.chat.completions.create',
  '/completions': 'openai.completions.create',
  '/embeddings': 'openai.embeddings.create',
  '/responses': 'openai.responses.create',
} as const;

/** A path that is forwarded. */
export type InferencePath = keyof typeof endpoints;

/** Whether a path is exactly one of those that are forwarded. */
export const isInferencePath = (path: string): path is InferencePath => Object.hasOwn(endpoints, path);
