import { messageList } from '../messages/chat.ts';
import { asInputs, first, get } from '../values.ts';
import { asMessages, type Convention, field, type Kind } from './convention.ts';
import type { SpanReader } from './reader.ts';
import { parseCounts } from './usage.ts';

/** Kinds by the ends of the names of components' classes. */
const kinds: readonly (readonly [end: RegExp, kind: Kind])[] = [
  [/Generator$/, 'model'],
  [/Embedder$/, 'embedding'],
  [/(Retriever|WebSearch|Ranker)$/, 'retriever'],
  [/Agent$/, 'agent'],
];

const component = (span: SpanReader): string => span.peekText('haystack.component.type') ?? '';

const getKind = (span: SpanReader): Kind => {
  if (span.span.name === 'haystack.agent.run') return 'agent';
  return kinds.find(([end]) => end.test(component(span)))?.[1] ?? 'other';
};

const keys = {
  input: ['haystack.component.input', 'haystack.agent.input', 'haystack.pipeline.input_data'],
  output: ['haystack.component.output', 'haystack.agent.output', 'haystack.pipeline.output_data'],
} as const;

const reply = (span: SpanReader): unknown => {
  const output = span.json('haystack.component.output');
  const meta = first(output, 'meta');
  const replies = first(output, 'replies');
  return Array.isArray(meta) ? meta[0] : get(Array.isArray(replies) ? replies[0] : undefined, 'meta');
};

/**
 * Haystack's own tracing, with `HAYSTACK_CONTENT_TRACING_ENABLED`.
 * Source: deepset-ai/haystack, `haystack/core/pipeline/base.py` and `haystack/tracing`.
 */
export const haystack: Convention = {
  matches: ({ namespaces }) => namespaces.has('haystack'),
  kind: getKind,
  inputs: (span, kind) => {
    const whole = () => span.json(...keys.input);
    if (kind !== 'model') return [() => asInputs(whole())];
    return [
      () => {
        const input = whole();
        const prompt = first(input, 'prompt');
        const list = first(input, 'messages') ?? (prompt === undefined ? undefined : [prompt]);
        return asMessages(messageList(list, 'user'));
      },
      () => asInputs(first(whole(), 'generation_kwargs')),
      () => field('model', first(reply(span), 'model')),
    ];
  },
  output: (span, kind) => {
    const output = span.json(...keys.output);
    return kind === 'model' ? asMessages(messageList(first(output, 'replies'), 'assistant')) : output;
  },
  usage: (span) => {
    const meta = reply(span);
    const model = first(meta, 'model');
    return parseCounts(first(meta, 'usage'), typeof model === 'string' ? model : undefined);
  },
};
