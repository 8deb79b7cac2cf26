/**
 * The paths below `/inference/v1` that are passed on, and the operation that a recorded request to
 * each is called: the name that the tracing of OpenAI's own clients gives it.
 */
export const endpoints = {
  '/chat/completions': 'openai.chat.completions.create',
  '/completions': 'openai.completions.create',
  '/embeddings': 'openai.embeddings.create',
  '/responses': 'openai.responses.create',
} as const;

/** One of the paths that are passed on. */
export type InferencePath = keyof typeof endpoints;

/** Whether a path is one of those that are passed on, letter by letter. */
export const isInferencePath = (path: string): path is InferencePath => Object.hasOwn(endpoints, path);
