import { describe, expect, it } from 'vitest';
import { inContext, translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import type { Span } from '../../../../../../core/doors/otel/span.ts';
import { makeSpan } from '../../../../../support/otel/spans.ts';

const inOneExport = (spans: readonly Span[]) =>
  inContext(spans.map((span) => ({ span, translation: translate(span) }))).map(
    ({ translation }) => translation,
  );

const failed = { code: 2, message: 'no such book' };

const tool = makeSpan({
  spanId: '1',
  scope: 'pydantic-ai',
  name: 'execute_tool find_book',
  attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'find_book' },
});
const client = (parentSpanId: string | undefined) => ({
  ...makeSpan({
    spanId: '2',
    ...(parentSpanId !== undefined && { parentSpanId }),
    scope: 'fastmcp',
    name: 'tools/call find_book',
    attributes: { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': 'find_book' },
  }),
  status: failed,
});
const server = makeSpan({
  spanId: '3',
  parentSpanId: '2',
  scope: 'mcp-python-sdk',
  name: 'MCP send tools/call find_book',
  attributes: { 'mcp.method.name': 'tools/call' },
});

describe('spans of one call of a tool', () => {
  it('are one tool with the error of the MCP client below it, in any order', () => {
    for (const spans of [
      [tool, client('1'), server],
      [server, client('1'), tool],
    ]) {
      const read = inOneExport(spans);
      expect(read.filter(({ kind }) => kind === 'tool')).toMatchObject([
        { tool: 'find_book', exception: 'no such book' },
      ]);
      expect(read.filter(({ kind }) => kind === 'other').map(({ tool: name }) => name)).toEqual([
        undefined,
        undefined,
      ]);
    }
  });

  it('are one tool that ended as the last of several tries did, in any order', () => {
    const first = { ...client('1'), startTimeUnixNano: 0n, endTimeUnixNano: 10n };
    const second = {
      ...client('1'),
      spanId: '4',
      startTimeUnixNano: 20n,
      endTimeUnixNano: 30n,
      status: { code: 1, message: '' },
    };
    for (const tries of [
      [first, second],
      [second, first],
    ])
      expect(inOneExport([tool, ...tries])[0]).not.toHaveProperty('exception');
  });

  it('are a tool of their own below no tool', () => {
    expect(inOneExport([client(undefined), server]).map(({ kind, tool: name }) => [kind, name])).toEqual([
      ['tool', 'find_book'],
      ['other', undefined],
    ]);
  });

  it('are two if a tool calls another one through a library of its own', () => {
    const other = makeSpan({
      scope: 'another library',
      attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'ask' },
    });
    const inner = { ...other, spanId: '2', parentSpanId: '1' };
    expect(inOneExport([tool, inner]).map(({ kind }) => kind)).toEqual(['tool', 'tool']);
  });

  it("are the agent's tool's, if what is around them comes later", () => {
    expect(inOneExport([server]).map(({ kind }) => kind)).toEqual(['other']);
  });

  it('are two of a tool that calls itself, and of two tools', () => {
    const inner = (name: string) => ({
      ...tool,
      spanId: '2',
      parentSpanId: '1',
      attributes: new Map([...tool.attributes, ['gen_ai.tool.name', name] as const]),
    });
    for (const name of ['find_book', 'ask'])
      expect(inOneExport([tool, inner(name)]).map(({ kind }) => kind)).toEqual(['tool', 'tool']);
  });

  it('end for spans that are parents of each other', () => {
    const around = makeSpan({ spanId: '2', parentSpanId: '1' });
    expect(inOneExport([{ ...tool, parentSpanId: '2' }, around]).map(({ kind }) => kind)).toEqual([
      'tool',
      'other',
    ]);
  });
});

describe('requests beside each other', () => {
  const request = (scope: string, more: Partial<Span>, attributes: Record<string, string | number>) => ({
    ...makeSpan({
      scope,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'claude',
        'gen_ai.usage.input_tokens': 100,
        'gen_ai.usage.output_tokens': 5,
        ...attributes,
      },
    }),
    parentSpanId: '9',
    startTimeUnixNano: 10n,
    endTimeUnixNano: 20n,
    ...more,
  });
  const counts = (spans: readonly Span[]) => inOneExport(spans).map(({ usage }) => usage !== undefined);
  const messages = { 'gen_ai.input.messages': '[{"role":"user","content":"hi"}]' };
  const inner = { spanId: '2', startTimeUnixNano: 12n, endTimeUnixNano: 18n };

  it('are one if the answer is one: the one with messages counts', () => {
    const id = { 'gen_ai.response.id': 'msg_1' };
    const sdk = request('sdk', inner, id);
    const library = request('library', {}, { ...id, ...messages });
    expect(counts([sdk, library])).toEqual([false, true]);
    expect(counts([library, sdk])).toEqual([true, false]);
  });

  it('are one if parent, model, times and tokens are the same', () => {
    const sdk = request('sdk', inner, { 'gen_ai.response.model': 'claude-1' });
    expect(counts([request('library', {}, messages), sdk])).toEqual([true, false]);
    const cached = request('sdk', inner, {
      'gen_ai.usage.input_tokens': 130,
      'gen_ai.usage.cache_read.input_tokens': 30,
    });
    expect(counts([request('library', {}, messages), cached])).toEqual([false, true]);
  });

  it.each<[string, Partial<Span>, Record<string, string | number>, string]>([
    ['of one library', inner, {}, 'library'],
    ['below two parents', { ...inner, parentSpanId: '8' }, {}, 'sdk'],
    ['of two models', inner, { 'gen_ai.request.model': 'gpt' }, 'sdk'],
    ['of other tokens', inner, { 'gen_ai.usage.output_tokens': 6 }, 'sdk'],
    ['one after the other', { ...inner, endTimeUnixNano: 22n }, {}, 'sdk'],
  ])('are two %s', (_, more, attributes, scope) => {
    expect(counts([request('library', {}, {}), request(scope, more, attributes)])).toEqual([true, true]);
  });

  it('are two if their answers are two', () => {
    const [a, b] = ['msg_1', 'msg_2'].map((id) => ({ 'gen_ai.response.id': id }));
    expect(counts([request('library', {}, a ?? {}), request('sdk', inner, b ?? {})])).toEqual([true, true]);
  });

  it('count as many as there are, where two libraries see each of several at once', () => {
    const four = ['library', 'sdk', 'library', 'sdk'].map((scope, i) =>
      request(scope, { spanId: String(i) }, {}),
    );
    expect(counts(four).filter(Boolean)).toHaveLength(2);
  });

  it("keep the messages that a library has around a provider's SDK that traces itself", () => {
    const id = { 'gen_ai.response.id': 'msg_1' };
    const outer = request('library', { spanId: '9', parentSpanId: undefined }, { ...id, ...messages });
    expect(counts([outer, request('sdk', inner, id)])).toEqual([true, false]);
    expect(counts([outer, request('sdk', inner, {})])).toEqual([false, true]);
  });
});

describe('a request of Mastra', () => {
  const inference = makeSpan({
    spanId: '2',
    parentSpanId: '1',
    attributes: {
      'mastra.span.type': 'model_inference',
      'gen_ai.request.model': 'm',
      'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":""}]}]',
    },
  });

  it('has the messages of the step around it', () => {
    const step = makeSpan({
      spanId: '1',
      attributes: {
        'mastra.span.type': 'model_step',
        'mastra.model_step.input': '[{"role":"user","content":"May I sow?"}]',
        'mastra.model_step.output':
          '{"text":"","toolCalls":[{"toolCallId":"c","toolName":"soil","args":{"bed":"B"}}]}',
      },
    });
    expect(inOneExport([inference, step])[0]).toMatchObject({
      kind: 'model',
      inputs: { messages: [{ role: 'user', content: 'May I sow?' }], model: 'm' },
      output: { messages: [{ tool_calls: [{ function: { name: 'soil', arguments: '{"bed":"B"}' } }] }] },
    });
  });

  it('has its own if the step comes later', () => {
    expect(inOneExport([inference])[0]?.inputs).toEqual({ model: 'm' });
  });
});
