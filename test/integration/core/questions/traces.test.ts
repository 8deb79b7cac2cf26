import { beforeAll, describe, expect, it } from 'vitest';
import { readContext, readContexts, readTraceAgents } from '../../../../core/questions/traces/index.ts';
import { requestBudget, type Store } from '../../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../../foundations/wire/index.ts';
import { createCallStore, makeEnd, makeStart, send } from '../../../support/values/calls.ts';

let store: Store;
beforeAll(async () => {
  store = await createCallStore();
});

let projects = 0;
const newProject = () => `acme/traces-${projects++}` as ProjectId;

/** Every token of a prompt costs a dollar, of an answer two. */
const lookups = {
  costs: async () => (usage: JsonObject) =>
    Object.fromEntries(
      Object.entries(usage).flatMap(([model, used]) =>
        model === 'unknown'
          ? []
          : [
              [
                model,
                {
                  prompt_token_cost_unit: 'USD',
                  prompt_tokens_total_cost: Number((used as JsonObject).prompt_tokens),
                  completion_tokens_total_cost: 2 * Number((used as JsonObject).completion_tokens),
                },
              ],
            ],
      ),
    ),
};

const at = (ms: number) => new Date(Date.parse('2026-10-01T12:00:00Z') + ms).toISOString();

interface Told {
  readonly id: string;
  readonly parent?: string;
  readonly from: number;
  /** Null for a call that runs. */
  readonly to: number | null;
  readonly op?: string;
  readonly attributes?: object;
  readonly inputs?: object;
  readonly output?: object;
  readonly tokens?: readonly [prompt: number, completion: number];
  readonly model?: string;
  readonly exception?: string;
  readonly summary?: object;
}

const tell = async (project: ProjectId, calls: readonly Told[]): Promise<void> => {
  const batch = calls.flatMap(({ id, parent = null, from, to, op = 'step', ...call }) => {
    const [prompt, completion] = call.tokens ?? [];
    const usage = call.tokens && {
      [call.model ?? 'm']: { prompt_tokens: prompt, completion_tokens: completion },
    };
    const start = makeStart({
      project_id: project,
      id,
      trace_id: 'trace',
      parent_id: parent,
      op_name: op,
      started_at: at(from),
      attributes: call.attributes ?? {},
      inputs: call.inputs ?? {},
    });
    const end = makeEnd({
      project_id: project,
      id,
      ended_at: at(to ?? 0),
      exception: call.exception ?? null,
      output: call.output ?? null,
      summary: { ...(usage && { usage }), ...call.summary },
    });
    return to === null ? [start] : [start, end];
  });
  await send(store, batch);
};

const agent = (name: string, more: object = {}) => ({ kind: 'agent', agent: { name, ...more } });

const ask = async (project: ProjectId, ids: readonly string[] = ['trace']) =>
  readTraceAgents(store, project, ids, requestBudget(60_000), lookups);

const byName = async (project: ProjectId) => {
  const [trace] = await ask(project);
  return new Map(trace?.agents.map((found) => [found.name, found]));
};

describe('the agents of a trace', () => {
  it('have what the calls below them did and used, down to the next agent', async () => {
    const project = newProject();
    await tell(project, [
      { id: 'desk', from: 0, to: 1000, attributes: agent('desk', { id: 'd-7', version: '2' }) },
      { id: 'ask', parent: 'desk', from: 10, to: 100, attributes: { kind: 'model' }, tokens: [100, 10] },
      {
        id: 'tool',
        parent: 'desk',
        from: 100,
        to: 200,
        attributes: { kind: 'tool', tool: { name: 'find' } },
      },
      { id: 'helper', parent: 'tool', from: 120, to: 180, attributes: agent('helper') },
      {
        id: 'failed',
        parent: 'helper',
        from: 130,
        to: 140,
        attributes: { kind: 'model' },
        exception: 'Busy',
      },
      { id: 'own', parent: 'helper', from: 140, to: 170, tokens: [7, 0], model: 'unknown' },
    ]);
    const found = await byName(project);
    expect(found.get('desk')).toEqual({
      name: 'desk',
      id: 'd-7',
      version: '2',
      calls: 3,
      model_requests: 1,
      tool_calls: 1,
      errors: 0,
      usage: {
        input_tokens: 100,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        output_tokens: 10,
        reasoning_tokens: 0,
      },
      cost_usd: 120,
      own_ms: 940,
      waited_ms: 0,
      called_by: [],
    });
    expect(found.get('helper')).toMatchObject({
      id: null,
      version: null,
      calls: 3,
      model_requests: 2,
      errors: 1,
      usage: { input_tokens: 7 },
      cost_usd: null,
      own_ms: 60,
      called_by: [{ name: 'desk', count: 1 }],
    });
    expect((await ask(project))[0]?.tools).toEqual([{ name: 'find', calls: 1, errors: 0, total_ms: 100 }]);
  });

  it('ran themselves while none that they called did, however those overlap and outlive them', async () => {
    const project = newProject();
    await tell(project, [
      { id: 'boss', from: 0, to: 1000, attributes: agent('boss') },
      { id: 'a', parent: 'boss', from: 100, to: 400, attributes: agent('worker') },
      { id: 'b', parent: 'boss', from: 300, to: 600, attributes: agent('worker') },
      { id: 'c', parent: 'boss', from: 900, to: 5000, attributes: agent('behind') },
      { id: 'd', parent: 'boss', from: 950, to: null, attributes: agent('still') },
    ]);
    const found = await byName(project);
    expect(found.get('boss')?.own_ms).toBe(400);
    expect(found.get('worker')).toMatchObject({ own_ms: 600, called_by: [{ name: 'boss', count: 2 }] });
    expect(found.get('behind')?.own_ms).toBe(4100);
    expect(found.get('still')?.own_ms).toBe(0);
  });

  it('go by the name of their operation if they name no agent, and what is above them by none', async () => {
    const project = newProject();
    await tell(project, [
      { id: 'root', from: 0, to: 1000, op: 'handle_request' },
      { id: 'turn', parent: 'root', from: 0, to: 900, op: 'agent.turn' },
      { id: 'chat', parent: 'turn', from: 0, to: 800, op: 'chat', tokens: [1, 1] },
    ]);
    const found = await byName(project);
    expect([...found.keys()]).toEqual([null, 'agent.turn']);
    expect(found.get(null)).toMatchObject({ calls: 1, own_ms: 0, called_by: [] });
    expect(found.get('agent.turn')).toMatchObject({ calls: 2, called_by: [{ name: null, count: 1 }] });
  });

  it('are found in a circle of parents, and below a parent that is not there', async () => {
    const project = newProject();
    await tell(project, [
      { id: 'one', parent: 'two', from: 0, to: 10, attributes: agent('ring') },
      { id: 'two', parent: 'one', from: 0, to: 10 },
      { id: 'lost', parent: 'gone', from: 0, to: 10, attributes: agent('lost') },
    ]);
    const [trace] = await ask(project);
    expect(trace?.agents.reduce((sum, { calls }) => sum + calls, 0)).toBe(3);
  });

  it('wait for people as long as their calls say', async () => {
    const project = newProject();
    await tell(project, [
      { id: 'desk', from: 0, to: 1000, attributes: agent('desk') },
      { id: 'tool', parent: 'desk', from: 0, to: 500, summary: { waited_ms: 300 } },
    ]);
    const found = await byName(project);
    expect(found.get('desk')?.waited_ms).toBe(300);
  });

  it('are those of the traces that have calls, in the order of the request', async () => {
    const project = newProject();
    await tell(project, [{ id: 'x', from: 0, to: 1 }]);
    expect((await ask(project, ['none', 'trace'])).map(({ trace_id }) => trace_id)).toEqual(['trace']);
  });

  it('of ten thousand calls, one below the other, are added up', async () => {
    const project = newProject();
    const calls = Array.from({ length: 10_000 }, (_, i) => ({
      id: `c${i}`,
      ...(i > 0 && { parent: `c${i - 1}` }),
      from: i,
      to: 20_000 - i,
      ...(i % 250 === 0 && { attributes: agent(`agent ${i / 250}`) }),
    }));
    for (let i = 0; i < calls.length; i += 1000) await tell(project, calls.slice(i, i + 1000));
    const [trace] = await ask(project);
    expect(trace?.agents.map(({ calls: count }) => count)).toEqual(Array.from({ length: 40 }, () => 250));
    expect(trace?.agents.at(-1)?.called_by).toEqual([{ name: 'agent 38', count: 1 }]);
  });
});

describe('the context of a call', () => {
  const read = (project: ProjectId, id: string) =>
    readContext(store, project, id, requestBudget(60_000), lookups);

  it('adds up to the tokens and the cost of its input', async () => {
    const project = newProject();
    const inputs = {
      model: 'm',
      messages: [
        { role: 'user', content: 'Why?' },
        { role: 'system', content: 'Be kind.' },
      ],
    };
    await tell(project, [{ id: 'chat', from: 0, to: 1, inputs, tokens: [30, 5] }]);
    const { parts, ...all } = await read(project, 'chat');
    expect(all).toEqual({ input_tokens: 30, cache_read_tokens: 0, estimated: true, counted: true });
    expect(parts.map(({ part }) => part)).toEqual(['system', 'user']);
    expect(parts.reduce((sum, { cost_usd = 0 }) => sum + cost_usd, 0)).toBeCloseTo(30);
  });

  it('is refused of a call that is no request to a model, and of none', async () => {
    const project = newProject();
    await tell(project, [{ id: 'step', from: 0, to: 1, inputs: { question: 'Why?' } }]);
    await expect(read(project, 'step')).rejects.toMatchObject({ status: 422 });
    await expect(read(project, 'gone')).rejects.toMatchObject({ status: 404 });
  });

  it('of several requests is told of each, as it is of one, with the tools that were called', async () => {
    const project = newProject();
    const inputs = (content: string) => ({ model: 'm', messages: [{ role: 'user', content }] });
    const output = {
      choices: [
        {
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 't', function: { name: 'mcp__orders__find', arguments: '{}' } }],
          },
        },
      ],
    };
    await tell(project, [
      { id: 'one', from: 0, to: 1, inputs: inputs('Why?'), tokens: [30, 5], output },
      { id: 'step', from: 0, to: 1, inputs: { question: 'Why?' } },
      { id: 'two', from: 2, to: 3, inputs: inputs('x'.repeat(1_000_000)), tokens: [40, 5] },
      { id: 'runs', from: 4, to: null, inputs: inputs('And now?') },
    ]);
    const ids = ['two', 'gone', 'step', 'runs', 'one'];
    const found = await readContexts(store, project, ids, requestBudget(60_000), lookups);
    expect(found.map(({ id, tool_calls }) => [id, tool_calls])).toEqual([
      ['two', []],
      ['runs', []],
      ['one', ['orders.find']],
    ]);
    for (const { id, tool_calls: _, ...context } of found) expect(context).toEqual(await read(project, id));
  });
});
