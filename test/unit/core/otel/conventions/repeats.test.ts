import { describe, expect, it } from 'vitest';
import { translate, withoutRepeats } from '../../../../../core/otel/conventions/index.ts';
import { spanOf } from '../../../../support/spans.ts';

const request = (spanId: string, parentSpanId: string | undefined, input: number, kind = 'LLM') =>
  spanOf({
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    attributes: { 'openinference.span.kind': kind, 'llm.model_name': 'm', 'llm.token_count.prompt': input },
  });

const counted = (spans: readonly ReturnType<typeof spanOf>[]) =>
  withoutRepeats(spans.map((span) => ({ span, translation: translate(span) }))).map(
    ({ usage }) => usage?.m?.input_tokens,
  );

describe('usage that is told twice', () => {
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

  it('is another where the span around counts more', () => {
    expect(counted([request('a', undefined, 9), request('b', 'a', 4)])).toEqual([9, 4]);
  });

  it('ends with spans that are parents of each other', () => {
    expect(counted([request('a', 'b', 9), request('b', 'a', 9)])).toHaveLength(2);
  });
});
