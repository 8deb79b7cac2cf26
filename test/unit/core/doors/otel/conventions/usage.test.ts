import { describe, expect, it } from 'vitest';
import { readTokens } from '../../../../../../api/shared/usage.ts';
import { translate, withoutRepeats } from '../../../../../../core/doors/otel/conventions/index.ts';
import { parseCounts, toUsage } from '../../../../../../core/doors/otel/conventions/usage.ts';
import { makeSpan } from '../../../../../support/otel/spans.ts';

const request = (spanId: string, parentSpanId: string | undefined, input: number, kind = 'LLM') =>
  makeSpan({
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    attributes: { 'openinference.span.kind': kind, 'llm.model_name': 'm', 'llm.token_count.prompt': input },
  });

const counted = (spans: readonly ReturnType<typeof makeSpan>[]) =>
  withoutRepeats(spans.map((span) => ({ span, translation: translate(span) }))).map(
    ({ translation }) => translation.usage?.m?.input_tokens,
  );

describe('a usage object', () => {
  it.each([
    [{ prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 60 } }, 100, 60, 0],
    [{ input_tokens: 100, output_tokens: 5, input_tokens_details: { cached_tokens: 60 } }, 100, 60, 0],
    [
      {
        input_tokens: 30,
        output_tokens: 5,
        cache_read_input_tokens: 60,
        cache_creation_input_tokens: 10,
      },
      100,
      60,
      10,
    ],
    [
      {
        inputTokens: 30,
        outputTokens: 5,
        totalTokens: 35,
        cacheReadInputTokens: 60,
        cacheWriteInputTokens: 10,
      },
      100,
      60,
      10,
    ],
    [{ promptTokenCount: 100, candidatesTokenCount: 5, cachedContentTokenCount: 60 }, 100, 60, 0],
    [{ prompt_tokens: 100, completion_tokens: 5, prompt_cache_hit_tokens: 60 }, 100, 60, 0],
    [
      { input_tokens: 100, output_tokens: 5, input_token_details: { cache_read: 60, cache_creation: 10 } },
      100,
      60,
      10,
    ],
    [
      {
        inputTokens: 100,
        outputTokens: 5,
        inputTokenDetails: { cacheReadTokens: 60, cacheWriteTokens: 10 },
      },
      100,
      60,
      10,
    ],
    [{ input_tokens: 100, output_tokens: 5, cache_read_tokens: 60, cache_write_tokens: 10 }, 100, 60, 10],
    [
      {
        prompt_tokens: 100,
        completion_tokens: 5,
        cache_read_input_tokens: 60,
        cache_creation_input_tokens: 10,
      },
      100,
      60,
      10,
    ],
  ])('%j costs what its provider bills', (usage, prompt, read, written) => {
    const counts = parseCounts(usage, 'm');
    const { m } = (counts && toUsage(counts, undefined)) ?? {};
    expect(m).toMatchObject({ input_tokens: prompt, output_tokens: 5, total_tokens: prompt + 5 });
    expect([m?.cache_read_input_tokens ?? 0, m?.cache_creation_input_tokens ?? 0]).toEqual([read, written]);
    expect(readTokens(m ?? {})).toMatchObject({ prompt, cacheRead: read, cacheWrite: written });
  });
});

describe('usage that is reported twice', () => {
  it('stays on the innermost request', () => {
    expect(counted([request('a', undefined, 9), request('b', 'a', 9)])).toEqual([undefined, 9]);
  });

  it('is dropped from a span around several requests that sums them up', () => {
    expect(counted([request('a', undefined, 9), request('b', 'a', 4), request('c', 'a', 5)])).toEqual([
      undefined,
      4,
      5,
    ]);
  });

  it('is found through steps that count nothing', () => {
    const step = request('s', 'a', 0, 'CHAIN');
    expect(counted([request('a', undefined, 9), step, request('b', 's', 9)])).toEqual([
      undefined,
      undefined,
      9,
    ]);
  });

  it('is another where a tool lies between', () => {
    const tool = request('t', 'a', 0, 'TOOL');
    expect(counted([request('a', undefined, 9), tool, request('b', 't', 9)])).toEqual([9, undefined, 9]);
  });

  it('stays on the span around where that counts more', () => {
    expect(counted([request('a', undefined, 9), request('b', 'a', 4)])).toEqual([9, undefined]);
  });

  it('is dropped from all spans in one that counts more than each of them', () => {
    const spans = [request('a', undefined, 9), request('b', 'a', 4), request('c', 'b', 4)];
    expect(counted(spans)).toEqual([9, undefined, undefined]);
  });

  it('is compared with what counts of the spans within', () => {
    const spans = [request('a', undefined, 9), request('b', 'a', 10), request('c', 'b', 4)];
    expect(counted(spans)).toEqual([undefined, 10, undefined]);
  });

  it('is dropped from a span of another trace that has the same answer', () => {
    const other = (span: ReturnType<typeof makeSpan>, fields: object) => ({
      ...span,
      traceId: '0000000000000000000000000000000b',
      scope: { ...span.scope, name: 'the-sdk' },
      attributes: new Map([...span.attributes, ...Object.entries(fields)]),
    });
    const answer = { 'output.value': '{"id":"chatcmpl-0123456789","choices":[]}' };
    const step = request('s', undefined, 0, 'CHAIN');
    const asked = request('a', 's', 9);
    const repeated = request('b', undefined, 9);
    const own = { ...asked, attributes: new Map([...asked.attributes, ...Object.entries(answer)]) };
    const sdks = other(repeated, { 'gen_ai.response.id': 'chatcmpl-0123456789' });
    expect(counted([sdks, step, own])).toEqual([undefined, undefined, 9]);
    expect(counted([step, own, sdks])).toEqual([undefined, 9, undefined]);
    expect(counted([own, other(repeated, { 'gen_ai.response.id': 'chatcmpl-9876543210' })])).toEqual([9, 9]);
    const later = { ...sdks, startTimeUnixNano: 3n, endTimeUnixNano: 4n };
    expect(counted([own, later])).toEqual([9, 9]);
  });

  it('is found at once among many requests below many steps', () => {
    // To look at all steps for each request would take minutes.
    const many = 40_000;
    const [outermost, step, inner] = [
      request('s-1', undefined, many),
      request('s', '', 0, 'CHAIN'),
      request('r', `s${many - 1}`, 1),
    ].map((span) => ({ span, translation: translate(span) }));
    if (!outermost || !step || !inner) throw new Error('three were made');
    const named = (entry: typeof step, parts: { spanId: string; parentSpanId?: string }) => ({
      ...entry,
      span: { ...entry.span, ...parts },
    });
    const indices = Array.from({ length: many }, (_, index) => index);
    const entries = [
      outermost,
      ...indices.map((at) => named(step, { spanId: `s${at}`, parentSpanId: `s${at - 1}` })),
      ...indices.map((at) => named(inner, { spanId: `r${at}` })),
    ];
    const kept = withoutRepeats(entries);
    expect(kept.filter(({ translation }) => translation.usage)).toHaveLength(many);
  });

  it('ends with spans that are parents of each other', () => {
    expect(counted([request('a', 'b', 9), request('b', 'a', 9)])).toHaveLength(2);
  });
});
