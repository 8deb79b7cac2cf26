import { nonEmptyString } from '../../../../foundations/wire/index.ts';
import { messageList, systemMessages } from '../messages/chat.ts';
import type { Message } from '../messages/message.ts';
import { asInputs, type Dict, present, unquoted } from '../values.ts';
import { approvalAsked, approvalGiven, openCalls } from './approvals.ts';
import {
  asMessages,
  type Convention,
  field,
  getTexts,
  hasContent,
  type Kind,
  kindNamed,
  namedBy,
  parseTools,
} from './convention.ts';
import type { Counts, SpanReader } from './reader.ts';
import { strandsInterrupt, strandsResume } from './strands.ts';

/** `gen_ai.operation.name`, and `llm.request.type` before it. */
export const operations: Readonly<Record<string, Kind>> = {
  chat: 'model',
  completion: 'model',
  text_completion: 'model',
  generate: 'model',
  generate_content: 'model',
  'chat.completions': 'model',
  'text.completions': 'model',
  responses: 'model',
  messages: 'model',
  embedding: 'embedding',
  embeddings: 'embedding',
  execute_tool: 'tool',
  invoke_agent: 'agent',
  create_agent: 'agent',
  invoke_workflow: 'workflow',
  // Strands runs graphs and swarms of agents.
  invoke_graph: 'workflow',
  invoke_swarm: 'workflow',
  plan: 'plan',
  retrieval: 'retriever',
  retrieve: 'retriever',
  rerank: 'retriever',
  search_memory: 'memory',
  create_memory: 'memory',
  update_memory: 'memory',
  upsert_memory: 'memory',
  delete_memory: 'memory',
  create_memory_store: 'memory',
  delete_memory_store: 'memory',
  // Asks for an answer that was made before: no tokens are spent.
  fetch_response: 'other',
};

/** Keys of token counts, today's names first. */
export const usageKeys = {
  model: ['gen_ai.response.model', 'gen_ai.request.model'],
  input: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.usage.prompt_tokens'],
  output: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens', 'llm.usage.completion_tokens'],
  total: ['gen_ai.usage.total_tokens', 'llm.usage.total_tokens'],
  cacheRead: [
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'gen_ai.usage.details.cache_read_tokens',
    'gen_ai.usage.details.cache_read_input_tokens',
    'gen_ai.usage.details.cached_tokens',
    'gen_ai.usage.cached_input_tokens',
    'gen_ai.usage.cached_tokens',
    'gen_ai.usage.prompt_tokens_details.cache_read',
    'gen_ai.usage.prompt_tokens_details.cached_tokens',
  ],
  cacheWrite: [
    'gen_ai.usage.cache_write.input_tokens',
    'gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
    'gen_ai.usage.cache_write_input_tokens',
    'gen_ai.usage.details.cache_write_tokens',
    'gen_ai.usage.details.cache_creation_input_tokens',
  ],
  reasoning: [
    'gen_ai.usage.reasoning.output_tokens',
    'gen_ai.usage.reasoning_tokens',
    'gen_ai.usage.details.reasoning_tokens',
  ],
} as const;

/** Token counts as OpenTelemetry's attributes have them. */
export const genAiCounts = (span: SpanReader): Counts => span.counts(usageKeys);

/** `gen_ai.request.temperature` as `temperature`. */
const parameters = (span: SpanReader): Dict | undefined => {
  if (!Array.from(span.span.attributes.keys()).some((key) => key.startsWith('gen_ai.request.')))
    return undefined;
  const { model: _, ...fields } = Object.fromEntries(
    Array.from(span.below('gen_ai.request.'), ([name, value]) => [name.replaceAll('.', '_'), value]),
  );
  return present(fields);
};

const searchesMemory = (span: SpanReader): boolean => span.peek('gen_ai.operation.name') === 'search_memory';

/** What is known of the agent, by today's names. */
const readAgent = namedBy({
  name: ['gen_ai.agent.name'],
  id: ['gen_ai.agent.id'],
  version: ['gen_ai.agent.version'],
});

const inputMessages = (span: SpanReader) => {
  const system = systemMessages(span.value('gen_ai.system_instructions'));
  const messages = messageList(span.value('gen_ai.input.messages'), 'user') ?? [];
  return [...system, ...messages];
};

/** Messages with the reasons why each ended, which stand beside them since 1.42. */
const withReasons = (span: SpanReader, messages: readonly Message[] | undefined) => {
  const reasons = span.peek('gen_ai.response.finish_reasons');
  if (!messages || !Array.isArray(reasons) || reasons.length !== messages.length) return messages;
  return messages.map((message, i) => {
    const finish_reason = nonEmptyString(reasons[i]);
    return finish_reason === undefined ? message : { finish_reason, ...message };
  });
};

/**
 * OpenTelemetry's conventions for generative AI, with messages as attributes.
 * Source: semantic-conventions-genai, `docs/gen-ai`, and its releases before 1.37.
 */
export const genAi: Convention = {
  matches: ({ namespaces }) => namespaces.has('gen_ai'),
  kind: (span) => {
    const named = kindNamed(span.peekText('gen_ai.operation.name'), operations);
    if (named) return named;
    if (/^memory\./.test(span.peekText('gen_ai.operation.name') ?? '')) return 'memory';
    if (span.has('gen_ai.operation.name')) return undefined;
    if (span.has('gen_ai.tool.name') || span.has('gen_ai.tool.call.id')) return 'tool';
    return span.has('gen_ai.retrieval.query.text') ? 'retriever' : undefined;
  },
  inputs: (span, kind) => {
    if (kind === 'tool')
      return [() => asInputs(unquoted(span.value('gen_ai.tool.call.arguments', 'gen_ai.tool.arguments')))];
    const model = () => field('model', span.text('gen_ai.request.model'));
    if (kind === 'embedding')
      return [
        () => field('input', getTexts(messageList(span.value('gen_ai.input.messages'), 'user'))),
        model,
        () => parameters(span),
      ];
    if (kind === 'retriever')
      return [
        () =>
          present({
            query: span.text('gen_ai.retrieval.query.text'),
            // Up to 1.41 it had the name of a parameter of models.
            top_k: span.value('gen_ai.retrieval.top_k', 'gen_ai.request.top_k'),
          }),
      ];
    if (kind === 'memory')
      return [
        () =>
          present({
            query: span.text('gen_ai.memory.query.text'),
            records: searchesMemory(span) ? undefined : span.json('gen_ai.memory.records'),
          }),
      ];
    const messages = () => asMessages(inputMessages(span));
    if (kind !== 'model') return [messages];
    return [
      messages,
      model,
      () => parameters(span),
      () => field('tools', parseTools(span.value('gen_ai.tool.definitions'))),
    ];
  },
  output: (span, kind) => {
    if (kind === 'tool') return unquoted(span.value('gen_ai.tool.call.result', 'gen_ai.tool.result'));
    if (kind === 'retriever') return span.json('gen_ai.retrieval.documents');
    if (kind === 'memory') return searchesMemory(span) ? span.json('gen_ai.memory.records') : undefined;
    const messages = withReasons(span, messageList(span.value('gen_ai.output.messages'), 'assistant'));
    // litellm leaves a tool call out of the message, and reports it in flattened attributes.
    return messages?.some(hasContent) || !span.has('gen_ai.completion.0.function_call.name')
      ? asMessages(messages)
      : undefined;
  },
  usage: genAiCounts,
  agent: readAgent,
  tool: (span) => span.peekText('gen_ai.tool.name'),
  prompt: namedBy({ name: ['gen_ai.prompt.name'], version: ['gen_ai.prompt.version'] }),
  // Some name the model in the place of the agent.
  name: (span) => {
    const agent = span.peekText('gen_ai.agent.name');
    const runs = span.peek('gen_ai.operation.name') === 'invoke_agent';
    return runs && agent !== undefined && !span.span.name.includes(agent)
      ? `invoke_agent ${agent}`
      : undefined;
  },
  wait: (span, kind) => strandsInterrupt(span, kind) ?? approvalAsked(span, kind) ?? openCalls(span, kind),
  resume: (span, kind) => strandsResume(span, kind) ?? approvalGiven(span, kind),
};
