import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../../../../web/api/calls.ts';
import {
  contentAt,
  neededFor,
  type Payloads,
  toContext,
  toStory,
} from '../../../../../web/calls/trace/story.ts';
import { toLines, toTree } from '../../../../../web/calls/trace/tree.ts';

interface Made {
  readonly id: string;
  readonly parent?: string;
  readonly op?: string;
  readonly inputs?: Record<string, unknown>;
  readonly output?: unknown;
  readonly exception?: string;
  readonly attributes?: Record<string, unknown>;
}

const makeRow = ({ id, parent, op = 'agent.turn', ...payload }: Made, at: number): CallRow => ({
  id,
  project_id: 'a/b',
  parent_id: parent ?? null,
  trace_id: 't',
  op_name: op,
  started_at: new Date(1000 * at).toISOString(),
  ended_at: new Date(1000 * at + 100).toISOString(),
  ...payload,
});

/** Each place of the story, with what is said there. */
const tellStory = (calls: readonly Made[]): (readonly [place: string, ...said: unknown[]])[] => {
  const rows = calls.map(makeRow);
  const lines = toLines(toTree(rows, 0));
  const context = toContext(lines);
  const payloads: Payloads = new Map(rows.map((row) => [row.id, row]));
  return toStory(lines).map((item) => {
    const content = contentAt(item, payloads, context);
    const parts = content?.messages.flatMap((message) =>
      message.parts.map((part) => ('text' in part ? `${message.role}: ${part.text}` : part.kind)),
    );
    return [
      item.key,
      ...(content && content.earlier.length > 0 ? [`${content.earlier.length} earlier`] : []),
      ...(parts ?? ['nothing read']),
      ...(content?.exception ? [content.exception] : []),
    ];
  });
};

const user = (content: string) => ({ role: 'user', content });
const answer = (content: string) => ({ role: 'assistant', content });
const call = { id: 'c1', type: 'function', function: { name: 'find', arguments: '{"order":1}' } };
const asking = { role: 'assistant', content: null, tool_calls: [call] };
const result = { role: 'tool', tool_call_id: 'c1', content: 'sent' };
const chat = (messages: readonly object[], message: object) => ({
  op: 'openai.chat',
  inputs: { model: 'm', messages },
  output: { choices: [{ message: { ...message, refusal: null } }] },
});

describe('the story of a trace', () => {
  it('says everything once, where it was said first', () => {
    const root = { id: 'root', inputs: { question: 'Where?' }, output: 'On its way.' };
    const first = { id: 'one', parent: 'root', ...chat([user('Where?')], asking) };
    const tool = { id: 'tool', parent: 'root', op: 'tool.find', inputs: { order: 1 }, output: 'sent' };
    const next = chat([user('Where?'), asking, result], answer('On its way.'));
    expect(tellStory([root, first, tool, { id: 'two', parent: 'root', ...next }])).toEqual([
      ['root', 'user: Where?'],
      ['one'],
      ['tool', 'call', 'result'],
      ['two', 'assistant: On its way.'],
      ['root end'],
    ]);
  });

  it('says once what agents repeat with their whole conversation, and tools under longer names', () => {
    const messages = [user('Where?'), asking, result, answer('On its way.')];
    const root = { id: 'root', inputs: { messages: [user('Where?')] }, output: { messages } };
    const first = { id: 'one', parent: 'root', ...chat([user('Where?')], asking) };
    const tool = { id: 'tool', parent: 'root', op: 'find.tool', inputs: { order: 1 }, output: 'sent' };
    const next = chat([user('Where?'), asking, result], answer('On its way.'));
    const calls = [
      root,
      first,
      { ...tool, attributes: { kind: 'tool' } },
      { id: 'two', parent: 'root', ...next },
    ];
    expect(tellStory(calls)).toEqual([
      ['root', 'user: Where?'],
      ['one'],
      ['tool', 'call', 'result'],
      ['two', 'assistant: On its way.'],
      ['root end'],
    ]);
  });

  it('shows calls of tools and their results that are no calls of the trace', () => {
    const first = { id: 'one', ...chat([user('Where?')], asking) };
    const next = { id: 'two', ...chat([user('Where?'), asking, result], answer('Soon.')) };
    expect(tellStory([first, next])).toEqual([
      ['one', 'user: Where?', 'call'],
      ['two', 'result', 'assistant: Soon.'],
    ]);
  });

  it('folds away what earlier turns of a conversation said', () => {
    const messages = [user('Hi'), answer('Hello'), user('And now?')];
    expect(tellStory([{ id: 'one', ...chat(messages, answer('Wait.')) }])).toEqual([
      ['one', '2 earlier', 'user: And now?', 'assistant: Wait.'],
    ]);
  });

  it('keeps the answer of a call that nobody below gave, and errors', () => {
    const root = { id: 'root', inputs: { question: 'Where?' }, output: 'Nobody knows.' };
    const failed = { id: 'tool', parent: 'root', op: 'tool.find', inputs: { order: 1 }, exception: 'Gone' };
    expect(tellStory([root, failed])).toEqual([
      ['root', 'user: Where?'],
      ['tool', 'call', 'Gone'],
      ['root end', 'assistant: Nobody knows.'],
    ]);
  });

  it('needs the calls that an answer goes on from, and no others', () => {
    const root = { id: 'root', inputs: { question: 'Where?' } };
    const models = ['one', 'two', 'three'].map((id) => ({
      id,
      parent: 'root',
      ...chat([user(id)], answer(id)),
    }));
    const lines = toLines(toTree([root, ...models].map(makeRow), 0));
    const needed = toStory(lines).map((item) => neededFor(item, toContext(lines)).map(({ id }) => id));
    expect(needed).toEqual([
      ['root'],
      ['one', 'root'],
      ['two', 'one', 'root'],
      ['three', 'two', 'root'],
      ['root', 'three'],
    ]);
  });
});
