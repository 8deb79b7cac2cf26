import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../../../../web/api/calls.ts';
import type { ContextOfMany } from '../../../../../web/calls/data.ts';
import { toLines, toTree } from '../../../../../web/calls/trace/tree.ts';
import {
  evenly,
  findConversations,
  findSaving,
  savingText,
  toGrowth,
} from '../../../../../web/views/trace/context.ts';

type Part = ContextOfMany['parts'][number];

const part = (part: Part['part'], tokens: number, name?: string, cost_usd?: number): Part => ({
  part,
  ...(name !== undefined && { name }),
  characters: 4 * tokens,
  tokens,
  ...(cost_usd !== undefined && { cost_usd }),
});

const context = (id: string, parts: Part[], more: Partial<ContextOfMany> = {}): ContextOfMany => ({
  id,
  input_tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0),
  cache_read_tokens: 0,
  estimated: true,
  counted: true,
  parts,
  tool_calls: [],
  ...more,
});

const call = (
  id: string,
  parent: string | null,
  attributes: Record<string, unknown>,
  usage?: object,
): CallRow => ({
  id,
  project_id: 'acme/shop',
  op_name: `op.${id}`,
  trace_id: 't',
  started_at: new Date(Number(/\d+/.exec(id)?.[0] ?? 0)).toISOString(),
  ended_at: new Date(1000).toISOString(),
  parent_id: parent,
  attributes,
  ...(usage && { summary: { usage } as CallRow['summary'] }),
});

describe('the requests of a trace', () => {
  it('are by run of an agent and model, without what wraps them, the largest first', () => {
    const model = { kind: 'model' };
    const agent = (name: string) => ({ kind: 'agent', agent: { name } });
    const used = (prompt_tokens: number, name = 'gpt-5') => ({ [name]: { prompt_tokens } });
    const calls = [
      call('a0', null, agent('desk')),
      call('w1', 'a0', model),
      call('m2', 'w1', model, used(10)),
      call('m3', 'a0', model, used(500, 'gpt-5-mini')),
      call('b4', 'a0', agent('helper')),
      call('m5', 'b4', model, used(100)),
      call('m6', 'a0', model, used(20)),
    ];
    const found = findConversations(toLines(toTree(calls, 2000)));
    expect(found.map(({ title, requests }) => [title, requests.map(({ call: { id } }) => id)])).toEqual([
      ['desk · gpt-5-mini · 1 request', ['m3']],
      ['helper · gpt-5 · 1 request', ['m5']],
      ['desk · gpt-5 · 2 requests', ['m2', 'm6']],
    ]);
  });

  it('are chosen evenly if there are too many, with the first and the last', () => {
    expect(evenly([1, 2, 3], 3)).toEqual([1, 2, 3]);
    expect(evenly([0, 1, 2, 3, 4, 5, 6, 7, 8], 5)).toEqual([0, 2, 4, 6, 8]);
  });
});

describe('how a window grew', () => {
  it('tells what was sent again, what of that was not cached, and where it was compacted', () => {
    const fixed = [part('tools', 100), part('system', 200)];
    const growth = toGrowth([
      context('1', [...fixed, part('user', 700)]),
      context('2', [...fixed, part('user', 1200)], { cache_read_tokens: 900 }),
      context('3', [...fixed, part('user', 100)], { cache_read_tokens: 50 }),
    ]);
    expect(growth.map(({ again, paidAgain, compactedFrom }) => [again, paidAgain, compactedFrom])).toEqual([
      [0, 0, undefined],
      [1000, 100, undefined],
      [300, 250, 1500],
    ]);
  });
});

describe('what would save most', () => {
  const conversation = (parts: (i: number) => Part[], more: Partial<ContextOfMany> = {}) =>
    [1, 2, 3].map((i) => context(`${i}`, parts(i), more));

  it('are definitions of tools that nobody called, by span, answer or result', () => {
    const contexts = conversation((i) => [
      part('tools', 50, 'used', 0.5),
      part('tools', 50, 'orders.find', 0.5),
      part('tools', 50, 'asked', 0.5),
      part('tools', 300, 'idle', 3),
      part('tools', 80, 'crm.idle', 0.8),
      part('tool_results', 10, 'used', 0.1),
      part('user', 300 * i, undefined, 3 * i),
    ]);
    const [first, ...others] = contexts;
    const saving = findSaving(
      [[...(first ? [{ ...first, tool_calls: ['asked'] }] : []), ...others]],
      ['find'],
    );
    expect(saving && savingText(saving)).toBe(
      'the schemas of 2 tools that were never called: 33 % of the input, $11.40 in this trace',
    );
  });

  it('is nothing about tools where results do not say which they are of', () => {
    const contexts = conversation(() => [
      part('tools', 900, 'idle'),
      part('tool_results', 10),
      part('user', 90),
    ]);
    expect(findSaving([contexts], [])).toBeUndefined();
  });

  it('are results of a tool and files that are sent again and again, of one conversation', () => {
    const results = conversation((i) => [part('tool_results', 500 * i, 'read'), part('user', 200)]);
    expect(findSaving([results], [])).toMatchObject({
      what: 'results of read, repeated in 2 requests',
      tokens: 1500,
      cost: undefined,
    });
    const file = conversation(() => [part('media', 500, 'plan.pdf'), part('user', 200)]);
    expect(findSaving([file], [])?.what).toBe('plan.pdf, sent again in 2 requests');
    expect(
      findSaving(
        file.map((one) => [one]),
        [],
      ),
    ).toBeUndefined();
  });

  it('is a system prompt that no request had cached, at half of what it costs', () => {
    const parts = () => [part('system', 4000, undefined, 4), part('user', 1000, undefined, 1)];
    expect(findSaving([conversation(parts)], [])).toMatchObject({
      what: 'the system prompt and tools, not cached in 2 requests',
      cost: 4,
    });
    expect(findSaving([conversation(parts, { cache_read_tokens: 4000 })], [])).toBeUndefined();
  });

  it('is nothing if that is less than 5 % of the input', () => {
    expect(findSaving([], [])).toBeUndefined();
    const parts = () => [part('tools', 49, 'idle'), part('user', 951)];
    expect(findSaving([conversation(parts)], [])).toBeUndefined();
  });
});
