import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { tools } from '../../../../api/tools.ts';
import { mcpHeaders, toolCall } from '../../../support/endpoints/agents.ts';
import { calls, end, report, start } from '../../../support/endpoints/scenario.ts';
import { root } from '../../../support/run/project.ts';
import { type SharedService, sharedService } from '../../../support/service/service.ts';
import { keyMaker } from '../../security/credentials.ts';

const project = 'acme/agents';
const trace = { project_id: project, trace_id: 'trace' };
const day = { project_id: project, start: '2026-09-30', end: '2026-10-02' };

/** Good arguments of every tool. */
const good: Readonly<Record<string, object>> = {
  list_projects: {},
  describe_project: day,
  query_calls: { ...day, limit: 3, columns: ['inputs'] },
  get_trace: trace,
  get_call: { project_id: project, call_id: '1' },
  get_thread: { project_id: project, thread_id: 'thread' },
  get_stats: { ...day, group_by: ['op_name'] },
  get_agents: { project_id: project, trace_ids: ['trace'] },
  search_text: { ...day, text: 'answer 1' },
  find_issues: day,
  compare_calls: { project_id: project, a: '1', b: '2' },
  list_prompts: { project_id: project },
  get_prompt: { project_id: project, name: 'support', label: 'production' },
  add_feedback: { project_id: project, call_id: '1', note: 'Read by an agent' },
  add_to_dataset: { project_id: project, dataset: 'orders', call_ids: ['1', '2'] },
  save_prompt: { project_id: project, name: 'support', text: 'Be kind to {who}.' },
  set_prompt_label: { project_id: project, name: 'support', label: 'production', version_index: 0 },
};
const names = tools.map(({ name }) => name);

let service: SharedService;
let endpoint: URL;
beforeAll(async () => {
  service = await sharedService();
  endpoint = new URL(`${service.url}/mcp`);
  const { path, body } = report(...calls(project, 12));
  expect((await service.post(path, body)).status).toBe(200);
  const prompt = { project_id: project, name: 'support', text: 'Be kind.', labels: ['production'] };
  expect((await service.post('/prompt/create', prompt)).status).toBe(200);
});

const bearer = (key = service.key) => ({ authorization: `Bearer ${key}` });
const send = (message: object, init: RequestInit = {}): Promise<Response> =>
  service.post('/mcp', message, { ...init, headers: { ...bearer(), ...mcpHeaders, ...init.headers } });

/** What a tool answers, as a client of 2025 sees it. */
interface Result {
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: true;
}
const call = async (name: string, args: object): Promise<Result> => {
  const answer = await send(toolCall(name, args));
  return ((await answer.json()) as { result: Result }).result;
};
/** The rows of a table as objects. */
const toRows = (table: unknown): readonly Readonly<Record<string, unknown>>[] => {
  const { columns, rows } = table as { columns: string[]; rows: unknown[][] };
  return rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])));
};
const getError = async (name: string, args: object): Promise<string> => {
  const { isError, content } = await call(name, args);
  expect(isError).toBe(true);
  return content.map(({ text }) => text).join('\n');
};

describe('the official clients', () => {
  it.each(['2026-07-28', 'legacy'] as const)('2.x (%s) list and call every tool', async (version) => {
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: version === 'legacy' ? version : { pin: version } } },
    );
    const transport = new StreamableHTTPClientTransport(endpoint, { requestInit: { headers: bearer() } });
    await client.connect(transport);
    const listed = await client.listTools();
    expect(listed.tools.map(({ name }) => name)).toEqual(names);
    // The client checks each result against the output schema of its tool.
    for (const name of names) {
      const result = await client.callTool({ name, arguments: { ...good[name] } });
      expect([name, result.isError ?? false, result.structuredContent]).toEqual([
        name,
        false,
        expect.anything(),
      ]);
    }
    const { resources } = await client.listResources();
    const [first] = resources;
    expect(JSON.stringify(await client.readResource({ uri: first?.uri ?? '' }))).toContain('$getField');
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['why_did_this_fail', 'what_became_dearer']);
    const prompt = await client.getPrompt({ name: 'why_did_this_fail', arguments: { project_id: project } });
    expect(JSON.stringify(prompt)).toContain(project);
    await client.close();
  });

  it('1.x list and call every tool', async () => {
    const client = new Client1({ name: 'test', version: '1' });
    const transport = new Transport1(endpoint, { requestInit: { headers: bearer() } });
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names);
    for (const name of names) {
      const result = await client.callTool({ name, arguments: { ...good[name] } });
      expect([name, result.isError ?? false, result.structuredContent]).toEqual([
        name,
        false,
        expect.anything(),
      ]);
    }
    await client.close();
  });

  it('and the CLI of MCP Inspector list and call every tool', async () => {
    const cli = join(root, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
    const inspect = async (...args: readonly string[]): Promise<unknown> => {
      const header = ['--header', `Authorization: Bearer ${service.key}`];
      const { stdout } = await promisify(execFile)(process.execPath, [
        cli,
        '--cli',
        endpoint.href,
        '--transport',
        'http',
        ...header,
        ...args,
      ]);
      return JSON.parse(stdout);
    };
    const listed = (await inspect('--method', 'tools/list')) as { tools: { name: string }[] };
    expect(listed.tools.map(({ name }) => name)).toEqual(names);
    for (const name of names) {
      const args = Object.entries(good[name] ?? {}).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
      const toolArgs = args.flatMap((arg) => ['--tool-arg', arg]);
      const result = (await inspect('--method', 'tools/call', '--tool-name', name, ...toolArgs)) as Result;
      expect([name, result.isError ?? false, result.structuredContent]).toEqual([
        name,
        false,
        expect.anything(),
      ]);
    }
  });
});

describe('get_stats', () => {
  it('counts exactly, and rounds prices to six digits', async () => {
    const large = 'acme/agents-large';
    const model = (id: string, prompt_tokens: number) => ({
      project_id: large,
      id,
      trace_id: id,
      op_name: 'ask',
      started_at: '2026-10-01T10:00:00Z',
      ended_at: '2026-10-01T10:20:34.567Z',
      summary: { usage: { 'gpt-4o': { prompt_tokens, completion_tokens: 1 } } },
    });
    const batch = [model('a', 5_174_133), model('b', 1)].flatMap(({ ended_at, summary, ...start }) => [
      { mode: 'start', req: { start } },
      { mode: 'end', req: { end: { project_id: large, id: start.id, ended_at, summary } } },
    ]);
    expect((await service.post('/call/upsert_batch', { batch })).status).toBe(200);
    const { structuredContent } = await call('get_stats', {
      ...day,
      project_id: large,
      call_metrics: [{ metric: 'latency_ms', aggregations: ['sum'] }],
      usage_metrics: [
        { metric: 'input_tokens', aggregations: ['sum'] },
        { metric: 'total_cost', aggregations: ['sum'] },
      ],
    });
    const { calls, usage } = structuredContent as Record<string, { columns: string[]; rows: unknown[][] }>;
    expect(calls?.rows).toEqual([[2_469_134]]);
    // 5,174,134 × $2.50 and 2 × $10, a million
    expect(usage?.rows).toEqual([['gpt-4o', 5_174_134, 12.9354]]);
  });
});

describe('the protocol', () => {
  it.each(['GET', 'DELETE'])('%s is answered with 405, and says that POST is served', async (method) => {
    const answer = await fetch(endpoint, { method, headers: bearer() });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', error: { message: expect.any(String) } });
  });

  it('takes a key as Basic and as Bearer, and nothing without one', async () => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect((await send(ping)).status).toBe(200);
    const basic = `Basic ${Buffer.from(`api:${service.key}`).toString('base64')}`;
    expect((await send(ping, { headers: { authorization: basic } })).status).toBe(200);
    expect((await fetch(endpoint, { method: 'POST', body: JSON.stringify(ping) })).status).toBe(401);
  });

  it('refuses requests of other sites, and takes those of its own', async () => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const from = (origin: string) => send(ping, { headers: { origin } });
    expect((await from('https://evil.example')).status).toBe(403);
    expect((await from('null')).status).toBe(403);
    expect((await from(endpoint.origin)).status).toBe(200);
  });

  it.each([
    ['no JSON', Buffer.from('{'), -32_700],
    ['what is not UTF-8', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"p\xefng"}', 'latin1'), -32_700],
    ['not even text', Buffer.from([0xff, 0xfe, 0x00]), -32_700],
    ['no message', Buffer.from('{"hello":1}'), expect.any(Number)],
  ])('answers %s with an error of JSON-RPC', async (_, body, code) => {
    const answer = await fetch(endpoint, {
      method: 'POST',
      headers: { ...bearer(), ...mcpHeaders, 'content-type': 'application/json' },
      body,
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code } });
  });

  it('answers in JSON, and holds no stream open', async () => {
    const answer = await send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  });
});

describe('tools, agents and waits', () => {
  it('are what a project is described by, and in the rows of calls', async () => {
    const own = 'acme/mcp-tools';
    const both = (id: string, op_name: string, attributes: object, summary: object = {}) => [
      start(own, id, { op_name, attributes }),
      end(own, id, { summary }),
    ];
    const tool = { name: 'seats.map' };
    const agent = { name: 'ida' };
    const { path, body } = report(
      ...both('1', 'execute_tool seat_map', { kind: 'tool', tool }, { waited_ms: 400 }),
      ...both('2', 'tools/call seat_map', { kind: 'tool', tool, agent }),
      ...both('3', 'find_order', { kind: 'tool', source: 'test' }),
      ...both('4', 'invoke_agent', { kind: 'agent', agent, prompt: { name: 'p' } }, { waiting: true }),
    );
    expect((await service.post(path, body)).status).toBe(200);
    const asked = { project_id: own, start: '2026-09-30', end: '2026-10-02' };
    const ask = async (name: string, args: object) => (await call(name, args)).structuredContent ?? {};
    const { of_newest_calls } = await ask('describe_project', asked);
    expect(of_newest_calls).toMatchObject({
      tools: { 'seats.map': 2, find_order: 1 },
      agents: { ida: 2 },
      prompts: { p: 1 },
      sources: { test: 1 },
    });
    const { calls } = await ask('query_calls', { ...asked, sort_by: [{ field: 'id', direction: 'asc' }] });
    expect(toRows(calls)).toMatchObject([
      { id: '1', tool: 'seats.map', waited_ms: 400 },
      { id: '2', tool: 'seats.map', agent: 'ida' },
      { id: '3', kind: 'tool' },
      { id: '4', agent: 'ida', waiting: true },
    ]);
    const { calls: inTrace } = await ask('get_trace', { project_id: own, trace_id: 'trace' });
    expect(toRows(inTrace)).toContainEqual(
      expect.objectContaining({ id: '1', tool: 'seats.map', waited_ms: 400 }),
    );
  });
});

describe('tools of prompts', () => {
  const own = 'acme/mcp-prompts';
  const ask = async (name: string, args: object) => {
    const { structuredContent, isError, content } = await call(name, { project_id: own, ...args });
    expect([name, isError ?? false, isError ? content : []]).toEqual([name, false, []]);
    return structuredContent ?? {};
  };

  it('save, label and read a prompt, and say where a label was', async () => {
    const messages = [{ role: 'user', content: 'Hi {name}' }];
    const config = { model: 'm' };
    expect(
      await ask('save_prompt', { name: 'greet', messages, config, labels: ['production'] }),
    ).toMatchObject({
      prompt: { name: 'greet', version_index: 0, labels: ['production'] },
    });
    expect(await ask('save_prompt', { name: 'greet', text: 'Hello {name}' })).toMatchObject({
      prompt: { version_index: 1 },
      missing: [expect.stringContaining('set_prompt_label')],
    });
    expect(await ask('get_prompt', { name: 'greet' })).toMatchObject({
      prompt: { messages, config, variables: ['name'], labels: ['production'], version_index: 0 },
    });
    const move = { name: 'greet', label: 'production', version_index: 1 };
    expect(await ask('set_prompt_label', move)).toMatchObject({
      label: { version_index: 1, previous_version_index: 0, moved_by: 'local' },
    });
    expect(await ask('get_prompt', { name: 'greet' })).toMatchObject({ prompt: { text: 'Hello {name}' } });
    expect(await ask('list_prompts', {})).toMatchObject({
      prompts: [{ name: 'greet', latest: 1, versions: 2, labels: { production: 1 } }],
    });
    await ask('set_prompt_label', { ...move, version_index: null });
    expect(await ask('list_prompts', {})).toMatchObject({ prompts: [{ labels: {} }] });
  });

  it('say that a prompt which does not fit was cut, and page through many', async () => {
    await ask('save_prompt', { name: 'long', text: 'word '.repeat(5000) });
    const { missing } = await ask('get_prompt', { name: 'long', max_characters: 2000 });
    expect(missing).toEqual([expect.stringMatching(/^text was cut, of 25000 characters: .*do not save it/)]);
    const first = await ask('list_prompts', { limit: 1 });
    const second = await ask('list_prompts', { limit: 1, cursor: first.next_cursor });
    expect([first, second]).toMatchObject([
      { prompts: [{ name: 'greet' }] },
      { prompts: [{ name: 'long' }] },
    ]);
    expect(second.next_cursor).toBeUndefined();
  });

  it('refuse what is wrong in words', async () => {
    const project_id = own;
    expect(await getError('save_prompt', { project_id, name: 'x' })).toBe(
      'should have exactly one of messages and text',
    );
    expect(await getError('save_prompt', { project_id, name: 'x', messages: [{ content: '' }] })).toBe(
      'messages.0: should have a role, such as system, user or assistant',
    );
    expect(await getError('get_prompt', { project_id, name: 'greet', label: 'none' })).toBe(
      'label: there is no label "none" of the prompt "greet" in acme/mcp-prompts',
    );
    const move = { project_id, name: 'greet', label: 'latest', version_index: 0 };
    expect(await getError('set_prompt_label', move)).toBe(
      'label: should be neither latest, nor v<N>, nor a digest',
    );
  });
});

describe('add_to_dataset', () => {
  const dataset = 'from-agents';
  const add = (call_ids: readonly string[], fields: object = {}) =>
    call('add_to_dataset', { project_id: project, dataset, call_ids, ...fields });
  const readRows = async (): Promise<Readonly<Record<string, unknown>>[]> => {
    const object = { project_id: project, object_id: dataset, digest: 'latest' };
    const { obj } = (await (await service.post('/obj/read', object)).json()) as {
      obj: { val: { rows: string } };
    };
    const digest = obj.val.rows.split('/').at(-1);
    const answer = await service.post('/table/query', { project_id: project, digest });
    return ((await answer.json()) as { rows: { val: Readonly<Record<string, unknown>> }[] }).rows.map(
      ({ val }) => val,
    );
  };

  it('makes rows of calls, each once, however often and by however many at once', async () => {
    expect((await add(['1', '2'])).structuredContent).toMatchObject({
      dataset: { added: 2, there_already: 0 },
    });
    expect((await add(['2', '1'])).structuredContent).toMatchObject({
      dataset: { added: 0, there_already: 2 },
    });
    const ids = ['3', '4', '5', '6'];
    const results = await Promise.all(ids.map((id) => add([id])));
    expect(results.map(({ structuredContent }) => structuredContent)).toMatchObject(
      ids.map(() => ({ dataset: { added: 1 } })),
    );
    const rows = await readRows();
    expect(rows.map(({ source }) => source).toSorted()).toEqual(
      ['1', '2', ...ids].map((id) => `svc:///${project}/call/${id}`),
    );
    expect(rows[0]).toEqual({
      inputs: { q: expect.any(String) },
      expected: 'answer 1',
      source: `svc:///${project}/call/1`,
    });
  });

  it('takes what is expected, and says which call there is not', async () => {
    await add(['7'], { expected: { answer: 42 } });
    expect((await readRows()).at(-1)).toMatchObject({ expected: { answer: 42 } });
    expect(await getError('add_to_dataset', { project_id: project, dataset, call_ids: ['7', 'no'] })).toBe(
      'call_ids: there is no call no in acme/agents; query_calls finds calls',
    );
    const other = { project_id: project, dataset: 'support', call_ids: ['7'] };
    expect(await getError('add_to_dataset', other)).toBe(
      'dataset: should be another name: support in acme/agents is an object without rows, so no dataset',
    );
  });
});

describe('a key that may only read', () => {
  it('is offered no tool that writes, and is told so', async () => {
    using keys = keyMaker(service);
    const headers = bearer(await keys.granted(`${project}:read`));
    const listed = await send({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { headers });
    expect(await listed.text()).not.toContain('add_feedback');
    const answer = await send(toolCall('add_feedback', good.add_feedback ?? {}), { headers });
    expect(await answer.text()).toContain('there is no tool add_feedback for this key');
  });
});

describe('what is wrong with arguments', () => {
  it.each([
    ['get_trace', { ...trace, trace: 'x' }, 'did you mean `trace_id`?'],
    ['query_calls', { ...day, filter: { op_name: ['a'] } }, 'did you mean `op_names`?'],
    ['query_calls', { ...day, filter: { op_names: ['answr'] } }, 'did you mean `answer`?'],
    [
      'query_calls',
      { ...day, query: { $expr: { $eq: [{ $getField: 'inputs.qq' }, { $literal: 1 }] } } },
      'there is no `inputs.qq` in the newest 12 calls of this range; did you mean `inputs.q`?',
    ],
    ['query_calls', { ...day, start: 'yesterday' }, '-30m, -2h or -7d, or ISO 8601'],
    ['query_calls', { ...day, start: '-1d', end: '-2d' }, 'should be later than start'],
    ['query_calls', { ...day, cursor: 'x' }, 'should be the next_cursor of a reply'],
    ['get_call', { project_id: project, call_id: 'none' }, 'there is no call none'],
    ['get_call', { project_id: project, call_id: '1', path: 'inputs.p' }, 'did you mean `inputs.q`?'],
    ['get_call', { project_id: project, call_id: '1', path: 'inputs.q', offset: 600 }, 'has 600 characters'],
    ['get_stats', { ...day, group_by: ['op'] }, 'group_by.0'],
    ['add_feedback', { project_id: project, call_id: '1' }, 'should have note, score or label'],
    ['get_calls', {}, 'did you mean `get_call`?'],
  ])('%s %j is said with the mend', async (name, args, mend) => {
    expect(await getError(name, args)).toContain(mend);
  });
});

describe('a reply', () => {
  it('fences what was recorded with a line that no trace can foresee', async () => {
    const [first, data, last] = (await call('get_call', good.get_call ?? {})).content;
    expect(first?.text).toContain(last?.text);
    expect(last?.text).toMatch(/^end-of-data-[\da-f]{16}$/);
    expect(data?.text).not.toContain(last?.text);
  });

  it('says which range it took, if none was asked for', async () => {
    const { structuredContent } = await call('query_calls', { project_id: project });
    expect(structuredContent?.range).toEqual({ start: expect.any(String), end: expect.any(String) });
  });

  it('goes on where it ended, row by row', async () => {
    const seen: unknown[] = [];
    let cursor: unknown;
    do {
      const { structuredContent } = await call('query_calls', {
        ...day,
        limit: 5,
        max_characters: 3000,
        ...(cursor !== undefined && { cursor }),
      });
      const rows = toRows(structuredContent?.calls);
      expect(rows.length).toBeGreaterThan(0);
      seen.push(...rows.map(({ id }) => id));
      cursor = structuredContent?.next_cursor;
    } while (cursor !== undefined);
    expect(seen.toSorted()).toEqual(Array.from({ length: 12 }, (_, i) => `${i}`).toSorted());
  });
});
