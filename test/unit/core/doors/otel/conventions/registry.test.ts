import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import registry from '../../../../../support/otel/gen-ai-registry.json' with { type: 'json' };
import { makeSpan } from '../../../../../support/otel/spans.ts';

/** What each span has, so that it is of a kind and has what an attribute belongs to. */
const around: Readonly<Record<string, Record<string, string | number>>> = {
  chat: { 'gen_ai.request.model': 'm', 'gen_ai.usage.input_tokens': 9, 'gen_ai.prompt.name': 'p' },
  execute_tool: { 'gen_ai.tool.name': 't' },
  retrieval: {},
  search_memory: {},
  invoke_agent: { 'gen_ai.agent.name': 'a' },
};

/** The operation whose spans have an attribute. */
const getOperation = (key: string): string => {
  if (/^gen_ai\.tool\.(?!definitions)/.test(key)) return 'execute_tool';
  if (key.startsWith('gen_ai.retrieval.')) return 'retrieval';
  if (key.startsWith('gen_ai.memory.')) return 'search_memory';
  return key.startsWith('gen_ai.agent.') ? 'invoke_agent' : 'chat';
};

const values: Readonly<Record<string, string>> = {
  'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"marked"}]}]',
  'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":"marked"}]}]',
  'gen_ai.system_instructions': '[{"type":"text","content":"marked"}]',
  'gen_ai.tool.definitions': '[{"name":"marked"}]',
  'gen_ai.retrieval.documents': '[{"id":"marked"}]',
  'gen_ai.memory.records': '[{"content":"marked"}]',
};

const read = (key: string, value: string | number) => {
  const operation = getOperation(key);
  const attributes = { ...around[operation], 'gen_ai.operation.name': operation, [key]: value };
  return translate(makeSpan({ name: operation, attributes }));
};

describe('the registry of generative AI', () => {
  it.each(Object.entries(registry.operations))('takes %s for %s', (operation, kind) => {
    expect(translate(makeSpan({ attributes: { 'gen_ai.operation.name': operation } })).kind).toBe(kind);
  });

  it.each(Object.entries(registry.attributes))('knows %s: %s', (key, place) => {
    if (place === 'kind') return;
    const isCount = /tokens$/.test(key) && key.startsWith('gen_ai.usage.');
    const mark = isCount ? 7 : (values[key] ?? 'marked');
    const translation: object = read(key, mark);
    const places = Object.entries(translation)
      .filter(([name]) => name !== 'usedKeys' && name !== 'displayName')
      .filter(([, value]) => JSON.stringify(value ?? null).includes(isCount ? ':7' : 'marked'))
      .map(([name]) => name);
    // The model is in the usage as well.
    expect(places.filter((name) => name !== 'usage' || place === 'usage')).toEqual(
      place === 'kept' ? [] : [place],
    );
  });

  it.each(Object.entries(registry.renamed))('reads %s as %s', (former, now) => {
    const total = former.includes('cache') ? { 'gen_ai.usage.input_tokens': 9 } : {};
    const [a, b] = [former, now].map((key) => {
      const attributes = { 'gen_ai.operation.name': 'chat', ...total, [key]: 5 };
      return translate(makeSpan({ attributes })).usage;
    });
    expect(JSON.stringify(a)).toContain(':5');
    expect(a).toEqual(b);
  });

  it('reads how many documents were asked for by its former name, too', () => {
    const inputs = ['gen_ai.retrieval.top_k', 'gen_ai.request.top_k'].map(
      (key) => translate(makeSpan({ attributes: { 'gen_ai.operation.name': 'retrieval', [key]: 5 } })).inputs,
    );
    expect(inputs).toEqual([{ top_k: 5 }, { top_k: 5 }]);
  });

  it('says why an answer ended, which its messages no longer do', () => {
    const { output } = translate(
      makeSpan({
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.output.messages': values['gen_ai.output.messages'] ?? '',
          'gen_ai.response.finish_reasons': ['length'],
        },
      }),
    );
    expect(output).toEqual({
      messages: [{ role: 'assistant', content: 'marked', finish_reason: 'length' }],
    });
  });
});
