import { answerMessages, chatInputs, messageList } from '../messages/chat.ts';
import { type Dict, first, get, unquoted } from '../values.ts';
import { asMessages, type Convention, field, getTexts, kindNamed } from './convention.ts';
import { operations } from './gen-ai.ts';
import type { SpanReader } from './reader.ts';

const prompts = ['gen_ai.prompt', 'llm.prompts'] as const;
const completions = ['gen_ai.completion', 'llm.completions'] as const;

const listIn = (span: SpanReader, prefixes: readonly string[]): readonly unknown[] | undefined => {
  for (const prefix of prefixes) {
    const list = span.list(prefix);
    if (list) return list;
  }
  return undefined;
};

/** `llm.request.functions.0.name` and so on, as the tools of a request. */
const functions = (span: SpanReader): Dict | undefined => {
  const list = span.list('llm.request.functions');
  const tools = list?.map((item) => ({
    type: 'function',
    function: {
      name: first(item, 'name'),
      description: first(item, 'description'),
      parameters: unquoted(get(item, 'parameters')),
    },
  }));
  return field('tools', tools);
};

/**
 * Messages flattened into attributes with an index, as OpenLLMetry did up to 0.40, or as one JSON
 * text, as OpenLIT did. The first can be missing, when the SDK limits the number of attributes.
 * Source: openllmetry, `opentelemetry-semantic-conventions-ai`.
 */
export const genAiIndexed: Convention = {
  matches: ({ namespaces }) => namespaces.has('gen_ai') || namespaces.has('llm'),
  kind: (span) => {
    const named = kindNamed(span.peekText('llm.request.type'), operations);
    if (named) return named;
    if (span.has('gen_ai.operation.name')) return undefined;
    // The attributes that say the kind may have been dropped.
    const asked = ['gen_ai.request.model', 'gen_ai.response.model', 'llm.request.model'];
    return asked.some((key) => span.has(key)) ? 'model' : undefined;
  },
  inputs: (span, kind) => {
    const list = () => listIn(span, prompts);
    if (kind === 'embedding')
      return [
        () => field('input', getTexts(messageList(list(), 'user'))),
        () => field('model', span.text('llm.request.model')),
      ];
    if (kind !== 'model') return [() => asMessages(messageList(list(), 'user'))];
    return [
      () => asMessages(messageList(list(), 'user')),
      () => chatInputs(span.value('gen_ai.prompt', 'gen_ai.content.prompt')),
      () => functions(span),
      () => field('model', span.text('llm.request.model')),
    ];
  },
  output: (span, kind) => {
    const list = listIn(span, completions);
    if (list) return asMessages(messageList(list, 'assistant'));
    return kind === 'model'
      ? asMessages(answerMessages(span.value('gen_ai.completion', 'gen_ai.content.completion')))
      : undefined;
  },
};
