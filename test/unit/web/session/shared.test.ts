import { describe, expect, it } from 'vitest';
import { toOperation } from '../../../../web/calls/list/request.ts';
import { type SharedTrace, sharedClient } from '../../../../web/session/shared.ts';

const row = (id: string, fields: object = {}) => ({
  id,
  project_id: 'acme/shop',
  op_name: 'answer',
  trace_id: 't',
  started_at: '2026-10-01T00:00:00.000000Z',
  inputs: { q: `Where is ${id}?` },
  output: 'There',
  exception: null,
  attributes: {},
  summary: {},
  ...fields,
});

const shared = {
  trace: 't',
  project: 'acme/shop',
  expiresAt: '2026-10-08T00:00:00.000000Z',
  calls: [row('one'), row('two', { output: 'A "quoted\\" word' })],
  complete: true,
} as SharedTrace;

const client = sharedClient(shared);

const idsOf = async (request: object): Promise<string[]> => {
  const ids: string[] = [];
  for await (const rows of client.stream('/calls/stream_query', request as never))
    ids.push(...rows.map(({ id }) => id));
  return ids;
};

const project_id = 'acme/shop';

describe('the API of a public link', () => {
  it('answers the trace, calls of it by their ids, and nothing of other traces', async () => {
    expect(await idsOf({ project_id, filter: { trace_ids: ['t'] } })).toEqual(['one', 'two']);
    expect(await idsOf({ project_id, filter: { call_ids: ['two', 'three'] } })).toEqual(['two']);
    expect(await idsOf({ project_id, filter: { trace_ids: ['other'] } })).toEqual([]);
    expect(await idsOf({ project_id, filter: { thread_ids: ['t'] } })).toEqual([]);
    expect(await client.ask('/call/read', { project_id, id: 'one' })).toEqual({ call: shared.calls[0] });
    expect(await client.ask('/call/read', { project_id, id: 'three' })).toEqual({ call: null });
  });

  it.each([
    ['where is ONE', ['one']],
    ['"quoted\\"', ['two']],
    ['there', ['one']],
    ['nowhere', []],
  ])('looks for %s in contents', async (value, ids) => {
    const holds = ['inputs', 'output'].map((path) => toOperation({ path, op: 'contains', value }));
    expect(
      await idsOf({ project_id, filter: { trace_ids: ['t'] }, query: { $expr: { $or: holds } } }),
    ).toEqual(ids);
  });

  it('refuses all else', async () => {
    await expect(client.ask('/objs/query', { project_id })).rejects.toThrow('shows one trace');
    await expect(client.download('/file/content', {} as never, '*/*')).rejects.toThrow('shows one trace');
    const threads = client.stream('/threads/stream_query', { project_id } as never);
    await expect(threads.next()).rejects.toThrow('shows one trace');
  });
});
