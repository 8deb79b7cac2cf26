import { nonEmptyString } from '../../../../foundations/wire/index.ts';
import { answerMessages, chatInputs, messageList } from '../messages/chat.ts';
import { haystackMessages, messagesOfHaystack } from '../messages/haystack.ts';
import type { Message } from '../messages/message.ts';
import { fromRepr } from '../messages/python.ts';
import { asInputs, type Dict, first, get, isDict, present, structured } from '../values.ts';
import {
  asMessages,
  asNamed,
  type Convention,
  field,
  hasContent,
  kindNamed,
  namedArguments,
  namedBy,
  unwrappedResult,
} from './convention.ts';
import { commandIn, readInterrupt } from './langgraph.ts';
import { isOpenAiAgents } from './names.ts';
import { readApproval } from './openai-agents.ts';
import type { Counts, SpanReader } from './reader.ts';
import { parseCounts } from './usage.ts';

/** Nodes of LangGraph's prebuilt agents that ask the model, or run its tools. */
const agentNodes: ReadonlySet<unknown> = new Set(['agent', 'model', 'model_request', 'tools']);

/** Whether the span is a step of an agent's graph, so that the span around it is an agent's run. */
export const isAgentStep = (span: SpanReader): boolean =>
  agentNodes.has(span.span.name) && span.textIn('metadata', 'langgraph_node') === span.span.name;

/** LangChain's executors of agents, which are chains in JavaScript. */
const executesAgent = (name: string): boolean => /agent_?executor$/i.test(name);

/** llama-index runs its agents as workflows, which are chains. */
const runsAgent = (name: string): boolean => /^\w+\.run$/.test(name) && name.includes('Agent');

const invocation = (span: SpanReader): unknown =>
  structured(span.peek('llm.invocation_parameters') ?? span.peek('embedding.invocation_parameters'));

/** The requested model; `llm.model_name` can be the one that answered. */
const readModel = (span: SpanReader): string | undefined =>
  nonEmptyString(first(invocation(span), 'model', 'model_name')) ??
  span.text('llm.model_name', 'embedding.model_name', 'reranker.model_name');

/** Parameters that say what other fields of `inputs` say. */
const elsewhere = new Set(['model', 'model_name', 'tools', 'messages', 'input', '_type']);

const parameters = (span: SpanReader): Dict | undefined => {
  const given = structured(span.value('llm.invocation_parameters', 'embedding.invocation_parameters'));
  if (!isDict(given)) return undefined;
  return present(Object.fromEntries(Object.entries(given).filter(([name]) => !elsewhere.has(name))));
};

const tools = (span: SpanReader): Dict | undefined =>
  field(
    'tools',
    span.list('llm.tools')?.map((tool) => structured(first(get(tool, 'tool'), 'json_schema') ?? tool)),
  );

/**
 * The messages of a request. LangChain.js leaves out content that is a list of blocks, such as an
 * agent's instructions, which the whole input has.
 */
const inputMessages = (span: SpanReader): readonly Message[] | undefined => {
  const flat = messageList(span.list('llm.input_messages'), 'user');
  if (flat === undefined || flat.every(hasContent)) return flat;
  const whole = messageList(first(structured(span.peek('input.value')), 'messages'), 'user');
  if (whole?.length !== flat.length) return flat;
  return flat.map((message, i) => {
    const other = whole[i];
    return !hasContent(message) && other?.role === message.role
      ? { ...message, content: other.content }
      : message;
  });
};

/** Texts of the prompts or choices of a completion. */
const texts = (list: readonly unknown[] | undefined, wrapper: string, role: string) => {
  const found = list?.flatMap((item) => nonEmptyString(first(get(item, wrapper), 'text')) ?? []);
  return found && found.length > 0 ? messageList(found, role) : undefined;
};

const documents = (span: SpanReader, prefix: string): unknown =>
  span.list(prefix)?.map((item) => {
    const document = first(item, 'document') ?? item;
    return isDict(document)
      ? { ...document, ...present({ metadata: structured(document.metadata) }) }
      : document;
  });

const embedded = (span: SpanReader, name: string): readonly unknown[] | undefined => {
  const found = span
    .list('embedding.embeddings')
    ?.map((item) => first(get(item, 'embedding'), name))
    .filter((item) => item !== undefined);
  return found && found.length > 0 ? found : undefined;
};

/** Haystack's messages of a field of the input or output, whose flattened ones lack all but texts. */
const haystack = (span: SpanReader, key: string, name: string, role: string) => {
  const text = span.peekText(key);
  if (!text?.includes('"ChatMessage(')) return undefined;
  const found = haystackMessages(get(structured(text), name));
  if (found) span.value(key);
  return found && asMessages(messagesOfHaystack(found, role));
};

const usageFields = ['usage', 'usage_metadata', 'tokenUsage', 'token_usage'] as const;
const usageText = /"(?:usage|usage_metadata|tokenUsage|token_usage)"|'usage':/;

/** The provider's usage somewhere in an answer; of a list, the first item's. */
const usageIn = (value: unknown, levels = 8): unknown => {
  if (levels === 0) return undefined;
  if (typeof value === 'string' && value.startsWith('ChatMessage('))
    return usageIn(fromRepr(value), levels - 1);
  if (Array.isArray(value)) return usageIn(value[0], levels - 1);
  if (!isDict(value)) return undefined;
  const own = first(value, ...usageFields);
  if (isDict(own)) return own;
  for (const item of Object.values(value)) {
    const found = usageIn(item, levels - 1);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** What the attributes of tokens lack, such as cached tokens, from the answer itself. */
const counts = (span: SpanReader): Counts => {
  const own = span.counts(countKeys);
  const answer = span.peekText('output.value');
  if (own.cacheRead !== undefined || !answer || !usageText.test(answer)) return own;
  const raw = parseCounts(usageIn(structured(answer)), own.model);
  return { ...raw, ...present({ ...own }), model: own.model };
};

const readInput = (span: SpanReader): Dict | undefined => asInputs(span.json('input.value'));

const countKeys = {
  model: ['llm.model_name', 'embedding.model_name', 'llm.response.model'],
  input: ['llm.token_count.prompt'],
  output: ['llm.token_count.completion'],
  total: ['llm.token_count.total'],
  cacheRead: ['llm.token_count.prompt_details.cache_read'],
  cacheWrite: ['llm.token_count.prompt_details.cache_write'],
  reasoning: ['llm.token_count.completion_details.reasoning'],
};

/**
 * OpenInference, of Arize Phoenix. Messages come flattened, and again in `input.value`.
 * Source: openinference, `spec/semantic_conventions.md`.
 */
export const openInference: Convention = {
  matches: ({ namespaces }) =>
    namespaces.has('openinference') ||
    namespaces.has('input') ||
    namespaces.has('output') ||
    namespaces.has('llm'),
  kind: (span) => {
    const kind = kindNamed(span.peekText('openinference.span.kind'));
    const { name } = span.span;
    // OpenAI's agents hand over by a tool that is none of the program's.
    if (isOpenAiAgents(span) && /^handoff to /.test(name)) return 'other';
    return kind === 'other' && (runsAgent(name) || executesAgent(name)) ? 'agent' : kind;
  },
  inputs: (span, kind) => {
    if (kind === 'tool') return [() => asInputs(namedArguments(span.json('input.value')))];
    if (kind === 'embedding')
      return [
        () => field('input', embedded(span, 'text')),
        () => readInput(span),
        () => field('model', readModel(span)),
        () => parameters(span),
      ];
    if (kind === 'retriever')
      return [
        () =>
          present({
            query: span.text('reranker.query'),
            documents: documents(span, 'reranker.input_documents'),
          }),
        () => readInput(span),
      ];
    if (kind !== 'model') return [() => readInput(span)];
    return [
      () => haystack(span, 'input.value', 'messages', 'user'),
      () => asMessages(inputMessages(span)),
      () => asMessages(texts(span.list('llm.prompts'), 'prompt', 'user')),
      () => chatInputs(span.value('input.value')),
      () => field('model', readModel(span)),
      () => parameters(span),
      () => tools(span),
    ];
  },
  output: (span, kind) => {
    if (kind === 'retriever')
      return (
        documents(span, 'retrieval.documents') ??
        documents(span, 'reranker.output_documents') ??
        span.json('output.value')
      );
    if (kind === 'embedding')
      return field('embeddings', embedded(span, 'vector')) ?? span.json('output.value');
    if (kind !== 'model') return unwrappedResult(span.json('output.value'));
    return (
      haystack(span, 'output.value', 'replies', 'assistant') ??
      asMessages(messageList(span.list('llm.output_messages'), 'assistant')) ??
      asMessages(texts(span.list('llm.choices'), 'completion', 'assistant')) ??
      asMessages(answerMessages(span.value('output.value')))
    );
  },
  usage: counts,
  // The metadata that frameworks attach, with LangGraph's thread among it.
  thread: (span) => span.textIn('metadata', 'thread_id', 'session_id', 'conversation_id'),
  user: (span) => span.textIn('metadata', 'user_id'),
  agent: (span) =>
    asNamed(
      span.peekText('agent.name') ??
        span.textIn('metadata', 'lc_agent_name') ??
        span.peekText('graph.node.name'),
    ),
  tool: (span) => span.peekText('tool.name', 'tool_call.function.name'),
  prompt: namedBy({
    name: ['llm.prompt_template.name', 'prompt.id'],
    version: ['llm.prompt_template.version'],
  }),
  wait: (span, kind) => readInterrupt(span) ?? readApproval(span, kind, ['input.value'], ['output.value']),
  resume: (span) => commandIn(span, 'input.value'),
  labels: { tags: ['tag.tags'] },
};
