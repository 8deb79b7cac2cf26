import { answerMessages, chatInputs } from '../messages/chat.ts';
import { asInputs, isDict, present, structured, toCount } from '../values.ts';
import {
  asMessages,
  type Convention,
  field,
  kindNamed,
  namedArguments,
  namedBy,
  unwrappedResult,
} from './convention.ts';
import type { Counts, SpanReader } from './reader.ts';
import { parseCounts } from './usage.ts';

const input = 'langfuse.observation.input';
const output = 'langfuse.observation.output';
const model = 'langfuse.observation.model.name';

/** Up to version 3.3 of the Python SDK, generations called themselves spans. */
const generationOnly = [model, 'langfuse.observation.usage_details', 'langfuse.observation.model.parameters'];

const sum = (usage: Record<string, unknown>, names: RegExp): number | undefined => {
  const counts = Object.entries(usage).flatMap(([name, value]) =>
    names.test(name) ? [toCount(value)].filter((count) => count !== undefined) : [],
  );
  return counts.length === 0 ? undefined : counts.reduce((total, count) => total + count, 0);
};

/**
 * Langfuse counts kinds of tokens apart: `input` is without `input_cached_tokens`. Programs that
 * count otherwise show it by a total that is less than the sum.
 */
const counts = (span: SpanReader): Counts | undefined => {
  const usage = structured(span.value('langfuse.observation.usage_details'));
  if (!isDict(usage)) return undefined;
  // Wrappers of provider SDKs hand the provider's own usage on, with details in it.
  if (Object.values(usage).some(isDict)) return parseCounts(usage, span.peekText(model));
  const total = sum(usage, /^total(_tokens|Tokens)?$/);
  const allInput = sum(usage, /^(input|prompt|cache)/);
  const allOutput = sum(usage, /^(output|completion)/);
  const apart = total === undefined || (allInput ?? 0) + (allOutput ?? 0) <= total;
  return {
    model: span.peekText(model),
    input: apart ? allInput : sum(usage, /^(input|prompt)(_tokens|Tokens)?$/),
    output: apart ? allOutput : sum(usage, /^(output|completion)(_tokens|Tokens)?$/),
    total,
    cacheRead: sum(usage, /cache_read|cached/),
    cacheWrite: sum(usage, /cache_(creation|write)/),
    reasoning: sum(usage, /^output_reasoning/),
  };
};

const parameters = (span: SpanReader) => {
  const given = structured(span.value('langfuse.observation.model.parameters'));
  if (!isDict(given)) return undefined;
  return present(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')));
};

/** Keys that a user or session can have, by the version of the SDK. */
const named = (what: 'user' | 'session'): string[] => [
  `langfuse.${what}.id`,
  `langfuse.trace.metadata.langfuse_${what}_id`,
  `langfuse.observation.metadata.langfuse_${what}_id`,
];

/** Where tags are that programs hand to LangChain. */
const langchainTags = ['trace', 'observation'].map((level) => `langfuse.${level}.metadata.langfuse_tags`);

/**
 * Langfuse's own SDKs. An error leaves the span's status unset.
 * Source: langfuse/langfuse, `packages/shared/src/server/otel/attributes.ts`.
 */
export const langfuse: Convention = {
  matches: ({ namespaces }) => namespaces.has('langfuse'),
  kind: (span) => {
    const kind = kindNamed(span.peekText('langfuse.observation.type'));
    const made = kind === 'other' && generationOnly.some((key) => span.has(key)) ? 'model' : kind;
    // Wrappers of provider SDKs call every request a generation.
    const embeds = /embedding/i.test(`${span.span.name} ${span.peekText(model) ?? ''}`);
    return made === 'model' && embeds ? 'embedding' : made;
  },
  inputs: (span, kind) => {
    if (kind === 'model')
      return [
        () => chatInputs(span.value(input)),
        () => field('model', span.text(model)),
        () => parameters(span),
      ];
    const whole = () => asInputs(namedArguments(span.json(input)));
    return kind === 'embedding'
      ? [whole, () => field('model', span.text(model)), () => parameters(span)]
      : [whole];
  },
  output: (span, kind) =>
    kind === 'model' ? asMessages(answerMessages(span.value(output))) : unwrappedResult(span.json(output)),
  usage: counts,
  prompt: namedBy({
    name: ['langfuse.observation.prompt.name'],
    version: ['langfuse.observation.prompt.version'],
  }),
  thread: named('session'),
  user: named('user'),
  labels: {
    environment: ['langfuse.environment'],
    release: ['langfuse.release'],
    tags: ['langfuse.trace.tags', ...langchainTags],
  },
  exception: (span) =>
    span.peek('langfuse.observation.level') === 'ERROR'
      ? (span.peekText('langfuse.observation.status_message') ?? 'error')
      : undefined,
};
