import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { translate, withoutRepeats } from '../../../../../../core/doors/otel/conventions/index.ts';
import type { AttributeValue } from '../../../../../../core/doors/otel/span.ts';
import { parseJson } from '../../../../../../foundations/wire/index.ts';
import { makeSpan } from '../../../../../support/otel/spans.ts';
import { anyCharacter } from '../../../../../support/values/arbitraries/character.ts';

/** Names that conventions look for, with values of any type below them. */
const names = [
  'gen_ai.operation.name',
  'gen_ai.input.messages',
  'gen_ai.output.messages',
  'gen_ai.prompt.0.content',
  'gen_ai.completion.0.tool_calls.0.name',
  'gen_ai.system_instructions',
  'gen_ai.tool.call.arguments',
  'gen_ai.usage.input_tokens',
  'gen_ai.request.model',
  'gen_ai.request.',
  'gen_ai.prompt',
  'gen_ai.completion',
  'llm.input_messages.0.message.content',
  'llm.input_messages.1',
  'llm.token_count.prompt',
  'llm.prompts.0',
  'openinference.span.kind',
  'input.value',
  'output.value',
  'llm.invocation_parameters',
  'metadata',
  'retrieval.documents.0.document.metadata',
  'embedding.embeddings.0.embedding.text',
  'llm.tools.0',
  'traceloop.span.kind',
  'traceloop.entity.input',
  'traceloop.association.properties.session_id',
  'ai.operationId',
  'ai.prompt',
  'ai.prompt.messages',
  'ai.response.toolCalls',
  'ai.values',
  'ai.settings.x',
  'langfuse.observation.type',
  'langfuse.observation.input',
  'langfuse.observation.usage_details',
  'langfuse.observation.level',
  'langsmith.span.kind',
  'langsmith.metadata.usage_metadata',
  'events',
  'mlflow.spanType',
  'mlflow.spanInputs',
  'mlflow.spanOutputs',
  'mlflow.chat.tokenUsage',
  'mlflow.linkedPrompts',
  'pennytrace.prompt.name',
  'pennytrace.prompt.version',
  'haystack.component.type',
  'haystack.component.input',
  'haystack.component.output',
  'genkit:metadata:subtype',
  'genkit:input',
  'genkit:output',
  'genkit:name',
  'mastra.span.type',
  'mastra.agent_run.input',
  'gcp.vertex.agent.llm_request',
  'gcp.vertex.agent.llm_response',
  'litellm.call_id',
  'llm.request.type',
  'llm.request.functions.0.name',
  'request_data',
  'response_data',
  'pydantic_ai.all_messages',
  'logfire.msg',
  'agent_name',
  'tool_arguments',
  'wandb.thread_id',
  'session.id',
];

const kinds = ['chat', 'execute_tool', 'invoke_agent', 'embeddings', 'retrieval', 'LLM', 'TOOL', 'RETRIEVER'];
const telling = [
  ...kinds,
  'EMBEDDING',
  '"CHAT_MODEL"',
  '"TOOL"',
  'generation',
  'llm',
  'model',
  'tool',
  'agent_run',
  'ERROR',
  'ai.generateText.doGenerate',
  'ai.toolCall',
  'ai.generateText',
  'workflow',
  'acompletion',
];

/** JSON as libraries write messages, cut off at times. */
const messageJson = fc
  .tuple(
    fc.oneof(
      fc.jsonValue(),
      fc.array(
        fc.dictionary(
          fc.constantFrom(
            'role',
            'content',
            'parts',
            'type',
            'tool_calls',
            'text',
            'message',
            'kwargs',
            '__proto__',
          ),
          fc.jsonValue({ maxDepth: 4 }),
          { maxKeys: 5 },
        ),
        { maxLength: 3 },
      ),
    ),
    fc.integer({ min: 0, max: 12 }),
  )
  .map(([value, cut]) => JSON.stringify(value).slice(0, cut > 8 ? undefined : -cut || undefined));

const leaf: fc.Arbitrary<AttributeValue> = fc.oneof(
  fc.constantFrom(...telling),
  messageJson,
  fc.string({ unit: anyCharacter }),
  fc.double(),
  fc.bigInt(),
  fc.boolean(),
  fc.constant(null),
  fc.uint8Array({ maxLength: 4 }),
);
const value: fc.Arbitrary<AttributeValue> = fc.oneof(
  { weight: 5, arbitrary: leaf },
  fc.array(leaf, { maxLength: 3 }),
  fc.dictionary(fc.string(), leaf, { maxKeys: 3 }),
);
const key = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...names) },
  fc.tuple(fc.constantFrom(...names), fc.string({ maxLength: 4 })).map(([name, rest]) => `${name}.${rest}`),
  fc.constantFrom('__proto__', 'constructor', 'a', 'a.b', ''),
  fc.string(),
);
const attributes = fc
  .array(fc.tuple(key, value), { maxLength: 14 })
  .map((entries) => Object.fromEntries(entries) as Record<string, AttributeValue>);
const events = fc.array(
  fc.tuple(
    fc.constantFrom(
      'gen_ai.user.message',
      'gen_ai.tool.message',
      'gen_ai.choice',
      'gen_ai.content.prompt',
      'gen_ai.client.inference.operation.details',
      'exception',
      '',
    ),
    fc.dictionary(
      fc.constantFrom(
        'content',
        'message',
        'role',
        'id',
        'gen_ai.prompt',
        'gen_ai.input.messages',
        'gen_ai.event.content',
      ),
      value,
    ),
  ),
  { maxLength: 4 },
);
const spans = fc
  .record({
    name: fc.constantFrom('call_llm', 'FunctionAgent.run', 'raw_gen_ai_request', 'x', ''),
    scope: fc.constantFrom('', 'gcp.vertex.agent', 'pydantic-ai', 'litellm', 'gen_ai'),
    attributes,
    events,
  })
  .map(makeSpan);

describe('a translation of any span', () => {
  it('is JSON, and counts nothing but whole tokens', () => {
    fc.assert(
      fc.property(spans, (span) => {
        const { inputs, output, usage, kind, threadId, userId } = translate(span);
        expect(parseJson(JSON.stringify({ inputs, output }))).toEqual({ inputs, output });
        expect([kind, typeof threadId, typeof userId]).not.toContain('object');
        for (const counts of Object.values(usage ?? {})) {
          const numbers = [counts.requests, counts.input_tokens ?? 0, counts.output_tokens ?? 0];
          expect(numbers.every((count) => Number.isSafeInteger(count) && count >= 0)).toBe(true);
        }
        if (usage) expect(['model', 'embedding']).toContain(kind);
      }),
    );
  });

  it('names as used only what the span has, and is the same each time', () => {
    fc.assert(
      fc.property(spans, (span) => {
        const first = translate(span);
        expect([...first.usedKeys].filter((used) => !span.attributes.has(used))).toEqual([]);
        expect([...first.usedEvents].filter((used) => span.events[used] === undefined)).toEqual([]);
        expect(translate(span)).toEqual(first);
      }),
    );
  });

  it('gives messages a role each, and text or parts as their content', () => {
    fc.assert(
      fc.property(spans, (span) => {
        const { inputs, kind } = translate(span);
        if (kind !== 'model') return;
        const messages = (inputs.messages ?? []) as { role: unknown; content: unknown }[];
        for (const { role, content } of messages) {
          expect(typeof role).toBe('string');
          expect(content === null || typeof content === 'string' || Array.isArray(content)).toBe(true);
        }
      }),
    );
  });

  it('never adds usage by taking repeats away', () => {
    fc.assert(
      fc.property(fc.array(spans, { maxLength: 4 }), (many) => {
        const entries = many.map((span, index) => ({
          span: { ...span, spanId: String(index), parentSpanId: String((index + 1) % 4) },
          translation: translate(span),
        }));
        const kept = withoutRepeats(entries);
        const others = ({ translation: { usage, ...rest } }: (typeof entries)[number]) => rest;
        expect(kept.map(others)).toEqual(entries.map(others));
        for (const [index, { translation }] of kept.entries())
          expect([undefined, entries[index]?.translation.usage]).toContain(translation.usage);
      }),
    );
  });
});
