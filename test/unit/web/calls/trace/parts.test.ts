import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../../../../web/api/calls.ts';
import {
  findMatching,
  outside,
  partText,
  splitPart,
  toMembers,
  withAbove,
} from '../../../../../web/calls/trace/parts.ts';
import { toLines, toTree } from '../../../../../web/calls/trace/tree.ts';

type Attributes = Record<string, unknown>;

const makeRow = (id: string, parent: string | null, attributes: Attributes = {}, usage?: object): CallRow =>
  ({
    id,
    project_id: 'a/b',
    parent_id: parent,
    trace_id: 't',
    op_name: id,
    started_at: new Date(1000).toISOString(),
    ended_at: new Date(2000).toISOString(),
    attributes,
    ...(usage && { summary: { usage, svc: { status: 'success' } } }),
  }) as CallRow;

const agent = (name: string) => ({ kind: 'agent', agent: { name } });

const members = toMembers(
  toLines(
    toTree(
      [
        makeRow('root', null),
        makeRow('lead', 'root', agent('lead')),
        makeRow('search', 'lead', { kind: 'tool', tool: { name: 'web.search' } }),
        makeRow('helper', 'search', agent('helper')),
        makeRow('chat', 'helper', { kind: 'model' }, { 'gpt-4o': { prompt_tokens: 3 } }),
        makeRow('failed chat', 'lead', { kind: 'model' }),
        makeRow('unnamed agent', 'root', { kind: 'agent' }),
      ],
      0,
    ),
  ),
);

const told = Object.fromEntries(
  members.map(({ node, agent, tool, models }) => [node.call.id, [agent, tool, ...models.keys()]]),
);

describe('the parts of a trace', () => {
  it('are the nearest agent at or above a call, its tool and its models', () => {
    expect(told).toEqual({
      root: [outside, undefined],
      lead: ['agent:lead', undefined],
      search: ['agent:lead', 'tool:web.search'],
      helper: ['agent:helper', undefined],
      chat: ['agent:helper', undefined, 'model:gpt-4o'],
      'failed chat': ['agent:lead', undefined, 'model:failed chat'],
      'unnamed agent': ['agent:unnamed agent', undefined],
    });
  });

  it('choose calls, which keep those above them', () => {
    const matching = findMatching(members, 'model:gpt-4o');
    expect([...matching]).toEqual(['chat']);
    expect([...withAbove(members, matching)].sort()).toEqual(['chat', 'helper', 'lead', 'root', 'search']);
    expect([...findMatching(members, 'agent:lead')]).toEqual(['lead', 'search', 'failed chat']);
    expect(findMatching(members, 'tool:nothing').size).toBe(0);
  });

  it('are told in words, whatever their names hold', () => {
    expect(partText('tool:web: search')).toBe('tool web: search');
    expect(splitPart('model:a:b')).toEqual(['model', 'a:b']);
    expect(partText(outside)).toBe('outside of agents');
  });
});
