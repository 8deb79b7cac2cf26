import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../../../foundations/wire/index.ts';
import type { AnsweredCall } from '../../../../support/otel/agent-captures.ts';
import { attributes, startNanos } from '../../../../support/otel/otel.ts';
import { findLine } from '../../../../support/service/log-lines.ts';
import { type SharedService, sharedService } from '../../../../support/service/service.ts';
import { bearer } from '../../../security/credentials.ts';

/* Runs that ask a person, and runs that go on with what they said, as real libraries report them. */

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

let projects = 0;
const newProject = (): string => `acme/waits-${projects++}`;

interface SpanOf {
  readonly trace: number;
  readonly id: number;
  readonly parent?: number;
  readonly name: string;
  readonly scope: string;
  /** Milliseconds since the first span. */
  readonly from: number;
  readonly to: number;
  readonly values?: JsonObject;
  readonly events?: readonly { readonly name: string; readonly values: JsonObject }[];
  readonly failed?: boolean;
}

const hex = (number: number, length: number): string => number.toString(16).padStart(length, '0');
const toTraceId = (trace: number): string => hex(0xabc000 + trace, 32);
const toCallId = ({ trace, id }: Pick<SpanOf, 'trace' | 'id'>): string =>
  `${toTraceId(trace).slice(16)}${hex(id, 16)}`;
const nanos = (ms: number): string => String(startNanos + BigInt(ms) * 1_000_000n);

/** An export of spans, each with its own scope, in OTLP's JSON. */
const toExport = (spans: readonly SpanOf[]): JsonObject => ({
  resourceSpans: [
    {
      scopeSpans: spans.map((span) => ({
        scope: { name: span.scope },
        spans: [
          {
            traceId: toTraceId(span.trace),
            spanId: hex(span.id, 16),
            name: span.name,
            kind: 1,
            ...(span.parent !== undefined && { parentSpanId: hex(span.parent, 16) }),
            startTimeUnixNano: nanos(span.from),
            endTimeUnixNano: nanos(span.to),
            attributes: attributes(span.values ?? {}),
            events: (span.events ?? []).map(({ name, values }) => ({
              name,
              timeUnixNano: nanos(span.to),
              attributes: attributes(values),
            })),
            status: span.failed ? { code: 2, message: 'failed' } : { code: 1 },
          },
        ],
      })),
    },
  ],
});

const send = async (project: string, spans: readonly SpanOf[]): Promise<Response> => {
  const answer = await fetch(`${service.url}/otel/v1/traces`, {
    method: 'POST',
    headers: {
      authorization: bearer(service.key),
      project_id: project,
      'content-type': 'application/json',
    },
    body: JSON.stringify(toExport(spans)),
  });
  expect([answer.status, await answer.clone().text()]).toEqual([200, expect.stringMatching(/^\s*\{\}\s*$/)]);
  return answer;
};

const readCalls = async (project: string): Promise<ReadonlyMap<string, AnsweredCall>> => {
  const answer = await service.post('/calls/stream_query', { project_id: project });
  const lines = (await answer.text()).split('\n').filter(Boolean);
  return new Map(
    lines.map((line) => {
      const call = JSON.parse(line) as AnsweredCall;
      return [call.id, call];
    }),
  );
};

/** What tests look at of calls, in order of their ids. */
const seen = (calls: ReadonlyMap<string, AnsweredCall>) =>
  [...calls.values()]
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, turn_id, thread_id, ended_at, inputs, output, exception, summary: { svc, ...summary } }) => {
      const { waited_ms: waited, waiting } = svc;
      return { id, turn_id, thread_id, ended_at, inputs, output, exception, waited, waiting, summary };
    });

const json = JSON.stringify;
const openInference = 'openinference.instrumentation.langchain';
const graph = { 'session.id': 'bees', 'openinference.span.kind': 'CHAIN' };
const question = "(Interrupt(value={'question': 'Move them?'}, id='870280e38c779f2afaf6ac2e56d8a74d'),)";
const interrupted = {
  name: 'exception',
  values: { 'exception.type': 'langgraph.errors.GraphInterrupt', 'exception.message': question },
};

const root: SpanOf = {
  trace: 1,
  id: 1,
  name: 'apiary',
  scope: openInference,
  from: 0,
  to: 40,
  values: { ...graph, 'input.value': '{"question": "Where?"}', 'output.value': '{"state": 1}' },
};
/** The node that asks is in a graph that is a node itself. Both end by the interrupt. */
const outer: SpanOf = {
  trace: 1,
  id: 2,
  parent: 1,
  name: 'approve',
  scope: openInference,
  from: 10,
  to: 30,
  values: graph,
  events: [interrupted],
};
const asking: SpanOf = { ...outer, id: 3, parent: 2, from: 20 };
const command = '{"graph": null, "update": null, "resume": "yes, on Friday", "goto": []}';
const resumed: SpanOf = {
  trace: 2,
  id: 4,
  name: 'apiary',
  scope: openInference,
  from: 1230,
  to: 1300,
  values: { ...graph, 'input.value': command, 'output.value': '{"answer": "On Friday."}' },
};
const again: SpanOf = {
  trace: 2,
  id: 5,
  parent: 4,
  name: 'approve',
  scope: openInference,
  from: 1240,
  to: 1250,
  values: graph,
};
const innerAgain: SpanOf = { ...again, id: 6, parent: 5 };
const langGraph = [asking, outer, root, innerAgain, again, resumed];

describe('an interrupt of LangGraph', () => {
  it('makes the node that asked wait until the graph goes on, and is no error', async () => {
    const project = newProject();
    await send(project, langGraph);
    const calls = await readCalls(project);
    const asked = { output: { question: 'Move them?' }, exception: null };
    expect(calls.get(toCallId(asking))).toMatchObject({ ...asked, summary: { svc: { waited_ms: 1200 } } });
    expect(calls.get(toCallId(outer))).toMatchObject(asked);
    expect(calls.get(toCallId(outer))?.summary).not.toHaveProperty('svc.waited_ms');
    expect(calls.get(toCallId(innerAgain))?.inputs).toEqual({ resume: 'yes, on Friday' });
    expect(calls.get(toCallId(again))?.inputs).toEqual({});
  });

  it('waits as long as nobody has answered', async () => {
    const project = newProject();
    await send(project, [asking, outer, root]);
    const { summary } = (await readCalls(project)).get(toCallId(asking)) ?? {};
    expect(summary?.svc).toMatchObject({ waiting: true, status: 'success' });
    expect(summary?.svc).not.toHaveProperty('waited_ms');
  });

  it('is one turn with the answer, which what the person said is a part of', async () => {
    const project = newProject();
    await send(project, langGraph);
    const calls = await readCalls(project);
    expect([...calls.values()].map(({ turn_id }) => turn_id)).toEqual(langGraph.map(() => toCallId(root)));
    expect(calls.get(toCallId(resumed))?.inputs).toEqual({
      messages: [{ role: 'user', content: 'yes, on Friday' }],
    });
    expect(calls.get(toCallId(root))).toMatchObject({
      output: { answer: 'On Friday.' },
      summary: { interrupted_output: { state: 1 }, svc: { latency_ms: 1300 } },
    });
    const answer = await service.post('/threads/stream_query', { project_id: project });
    expect(JSON.parse(await answer.text())).toMatchObject({ thread_id: 'bees', turn_count: 1 });
  });

  it('says the same in whatever requests and order both runs come, and however often', async () => {
    const whole = newProject();
    await send(whole, langGraph);
    const expected = seen(await readCalls(whole));
    const runs = [
      [[asking, outer, root]],
      [[asking], [outer], [root]],
      [[asking, root], [outer]],
      [[outer, root], [asking]],
    ];
    const resumes = [
      [[innerAgain, again, resumed]],
      [[innerAgain], [again], [resumed]],
      [[again], [innerAgain, resumed]],
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...runs),
        fc.constantFrom(...resumes),
        fc.boolean(),
        fc.boolean(),
        async (run, resume, isReversed, isRepeated) => {
          const requests = isReversed ? [...resume, ...run] : [...run, ...resume];
          const project = newProject();
          for (const spans of isRepeated ? [...requests, ...requests] : requests) await send(project, spans);
          expect(seen(await readCalls(project))).toEqual(expected);
        },
      ),
      { numRuns: 12 },
    );
  });

  it.each([
    ['a node in it', false],
    ['a node in it, and the last run fails', true],
    ['the run itself', false],
    ['the run itself, and the last run fails', true],
  ])('is one turn with all answers if a run that goes on asks again: %s', async (asks, failed) => {
    const ofNode = asks.startsWith('a node');
    const sign: SpanOf = { ...asking, trace: 2, id: 7, parent: 4, name: 'sign', from: 1260, to: 1290 };
    const between: SpanOf = ofNode ? resumed : { ...resumed, events: [interrupted] };
    const last: SpanOf = {
      ...resumed,
      trace: 3,
      id: 8,
      from: 2290,
      to: 2400,
      failed,
      values: { ...resumed.values, 'output.value': '{"answer": "Signed."}' },
    };
    const first = [asking, outer, root];
    const second = ofNode ? [again, sign, between] : [again, between];
    const inOrder = async (...requests: (readonly SpanOf[])[]) => {
      const project = newProject();
      for (const spans of requests) await send(project, spans);
      return readCalls(project);
    };
    const calls = await inOrder(first, second, [last]);
    expect(new Set([...calls.values()].map(({ turn_id }) => turn_id))).toEqual(new Set([toCallId(root)]));
    const waits = [asking, ofNode ? sign : between].map(
      (span) => calls.get(toCallId(span))?.summary.svc.waited_ms,
    );
    expect(waits).toEqual([1200, ofNode ? 1000 : 990]);
    expect(calls.get(toCallId(root))).toMatchObject({
      output: { answer: 'Signed.' },
      exception: failed ? expect.stringContaining('failed') : null,
      summary: { interrupted_output: { state: 1 }, svc: { latency_ms: 2400 } },
    });
    expect(calls.get(toCallId(between))?.summary).not.toHaveProperty('interrupted_output');
    const expected = seen(calls);
    expect(seen(await inOrder(first, [last], second))).toEqual(expected);
    expect(seen(await inOrder(second, first, [last]))).toEqual(expected);
    expect(seen(await inOrder(second, [last], first))).toEqual(expected);
    expect(seen(await inOrder([last], first, second))).toEqual(expected);
    expect(seen(await inOrder([last], second, first))).toEqual(expected);
  });

  describe('with an id of its own', () => {
    const makeInterrupt = (id: string) => ({
      ...interrupted,
      values: {
        ...interrupted.values,
        'exception.message': `(Interrupt(value='Move?', id='${id.repeat(32)}'),)`,
      },
    });
    const whole = { ...root, to: 60 };
    /** Nodes of one name that ask at once. The one that began first is not first by its id. */
    const hive: SpanOf = { ...asking, parent: 1, id: 13, from: 10, events: [makeInterrupt('b')] };
    const queen: SpanOf = { ...asking, parent: 1, id: 12, from: 15, events: [makeInterrupt('a')] };
    const runAfter = (trace: number, from: number, resume: JsonObject): SpanOf => ({
      ...resumed,
      trace,
      from,
      to: from + 50,
      values: {
        ...resumed.values,
        'input.value': json({ graph: null, update: null, resume, goto: [] }),
        'output.value': json({ from }),
      },
    });
    const a = 'a'.repeat(32);
    const b = 'b'.repeat(32);

    it('is answered to the node that asked it, of several of one name', async () => {
      const project = newProject();
      await send(project, [queen, hive, whole]);
      const nodes: SpanOf[] = [
        { ...again, id: 6, from: 1232, to: 1240 },
        { ...again, id: 5, from: 1235, to: 1241 },
      ];
      await send(project, [...nodes, runAfter(2, 1230, { [a]: 'no', [b]: 'yes' })]);
      const calls = await readCalls(project);
      expect(nodes.map((node) => calls.get(toCallId(node))?.inputs.resume)).toEqual(['yes', 'no']);
    });

    it('may be answered before an earlier one: the turn ends with the answer of the last run', async () => {
      const project = newProject();
      await send(project, [queen, hive, whole]);
      await send(project, [runAfter(2, 1100, { [a]: 'no' })]);
      await send(project, [runAfter(3, 2100, { [b]: 'yes' })]);
      const calls = await readCalls(project);
      expect([queen, hive].map((span) => calls.get(toCallId(span))?.summary.svc.waited_ms)).toEqual([
        1070, 2070,
      ]);
      expect(calls.get(toCallId(whole))?.output).toEqual({ from: 2100 });
    });

    it('is that of the innermost call, also if the one around it took as long', async () => {
      const project = newProject();
      await send(project, [{ ...outer, id: 9 }, { ...outer, parent: 9 }, root]);
      const calls = [...(await readCalls(project)).values()];
      expect(calls.filter(({ summary }) => summary.svc.waiting).map(({ id }) => id)).toEqual([
        toCallId(outer),
      ]);
    });

    it('is none of another run that asks the same meanwhile', async () => {
      const project = newProject();
      const other = { ...hive, trace: 9, from: 12, to: 28 };
      await send(project, [hive, whole, other, { ...whole, trace: 9 }]);
      const calls = await readCalls(project);
      expect([hive, other].map((span) => calls.get(toCallId(span))?.summary.svc.waiting)).toEqual([
        true,
        true,
      ]);
    });
  });

  it.each([
    ['the run that goes on', { failed: false }, { failed: true }],
    ['its own run', { failed: true }, { failed: false }],
  ])('is in a turn that failed if %s did', async (_, run, goesOn) => {
    const project = newProject();
    await send(project, [asking, outer, { ...root, ...run }]);
    await send(project, [{ ...resumed, ...goesOn }]);
    expect((await readCalls(project)).get(toCallId(root))).toMatchObject({
      output: { answer: 'On Friday.' },
      exception: expect.stringContaining('failed'),
    });
  });

  it('leaves the output of a turn that goes on itself when somebody has answered', async () => {
    const project = newProject();
    const whole = { ...root, to: 2000 };
    await send(project, [{ ...asking, parent: 1 }, { ...resumed, trace: 1, parent: 1 }, whole]);
    const { output, turn_id, summary } = (await readCalls(project)).get(toCallId(whole)) ?? {};
    expect({ output, turn_id }).toEqual({ output: { state: 1 }, turn_id: toCallId(whole) });
    expect(summary).not.toHaveProperty('interrupted_output');
  });

  const resumedRun = [innerAgain, again, resumed];
  const namesNothing = [asking, outer].map((span) => ({
    ...span,
    values: { 'openinference.span.kind': 'CHAIN' },
  }));

  it.each([
    ['the run that goes on came first', [resumedRun, [asking], [outer], [root]]],
    ['the run that goes on came between', [[asking, outer], resumedRun, [root]]],
    ['only the root names the thread', [namesNothing, resumedRun, [root]]],
    ['both roots come last', [[asking, outer], [innerAgain, again], [resumed], [root]]],
  ])('is one turn if its root comes by itself, and %s', async (_, requests) => {
    const project = newProject();
    for (const spans of requests) await send(project, spans);
    const calls = await readCalls(project);
    expect([...calls.values()].map(({ turn_id }) => turn_id)).toEqual(langGraph.map(() => toCallId(root)));
    expect(calls.get(toCallId(asking))?.summary).toMatchObject({ svc: { waited_ms: 1200 } });
    expect(calls.get(toCallId(root))?.output).toEqual({ answer: 'On Friday.' });
  });

  it('leaves a run that goes on its own turn while nobody knows what it goes on with', async () => {
    const project = newProject();
    await send(project, [innerAgain, again, resumed]);
    expect((await readCalls(project)).get(toCallId(resumed))?.turn_id).toBe(toCallId(resumed));
  });

  it('costs read and write units of the documents, and nothing where nobody was asked', async () => {
    const project = newProject();
    const units = async (spans: readonly SpanOf[]) => {
      const { readUnits, writeUnits } = await findLine(service, await send(project, spans));
      return { readUnits, writeUnits };
    };
    const node = { ...asking, parent: 1 };
    const ordinary = [root, { ...node, events: [] }].map((span) => ({ ...span, trace: 7 }));
    expect(await units(ordinary)).toEqual({ readUnits: 0, writeUnits: 10 });
    // The note, and two looks at the notes of the thread.
    expect(await units([root, node])).toEqual({ readUnits: 2, writeUnits: 11 });
    expect(await units([resumed])).toEqual({ readUnits: 10.5, writeUnits: 18 });
    // Sent again, all is as it was, and the note is put again.
    const again = await units([{ ...resumed, trace: 7, id: 77, values: graph }]);
    const same = await units([{ ...resumed, trace: 7, id: 77, values: graph }]);
    expect(same.writeUnits).toBeLessThan(Number(again.writeUnits));
    expect((await units([resumed])).writeUnits).toBe(Number(same.writeUnits) + 1);
  });
});

describe('a run of Microsoft’s Agent Framework that asks about many tools', () => {
  const scope = 'agent_framework';
  const makeRun = (trace: number, from: number, values: JsonObject): SpanOf => ({
    trace,
    id: trace,
    name: 'invoke_agent seats',
    scope,
    from,
    to: from + 100,
    values: { 'gen_ai.operation.name': 'invoke_agent', ...values },
  });
  const messages = (role: string, type: string, ids: readonly string[]): string =>
    JSON.stringify([
      {
        role,
        parts: ids.map((id) => ({ type, approved: true, function_call: { call_id: id, name: 'book' } })),
      },
    ]);

  it.each([
    ['with ids of any length', ['é'.repeat(3000), '', ' ', 'b']],
    ['more than anybody reads', Array.from({ length: 5000 }, (_, i) => `call ${i}`)],
  ])('%s waits until the answer', async (_, ids) => {
    const project = newProject();
    const asking = makeRun(1, 0, {
      'gen_ai.output.messages': messages('assistant', 'function_approval_request', ids),
    });
    await send(project, [asking]);
    expect((await readCalls(project)).get(toCallId(asking))?.summary?.svc).toMatchObject({ waiting: true });
    const answer = messages('user', 'function_approval_response', ids);
    await send(project, [makeRun(2, 1100, { 'gen_ai.input.messages': answer })]);
    expect((await readCalls(project)).get(toCallId(asking))?.summary?.svc).toMatchObject({ waited_ms: 1000 });
  });
});

/** A run that asks and one that goes on, as a library reports them, with the calls that say so. */
interface Framework {
  readonly name: string;
  readonly spans: readonly SpanOf[];
  readonly asked: Pick<SpanOf, 'trace' | 'id'>;
  /** The run that goes on; undefined if no span is known to. */
  readonly resumed?: Pick<SpanOf, 'trace' | 'id'>;
  readonly answer?: JsonValue;
  /** The turn of both; undefined without a thread. */
  readonly turn?: Pick<SpanOf, 'trace' | 'id'>;
}

const conversation = { 'gen_ai.conversation.id': 'trains' };
const agentRun = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'seats' };
const toolRun = {
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': 'book_seat',
  'gen_ai.tool.call.id': 'call_1',
};
const call = { type: 'tool_call', id: 'call_1', name: 'book_seat', arguments: { train: 'M1' } };
const questionMessages = [{ role: 'user', parts: [{ type: 'text', content: 'Book a seat' }] }];
const openCall = { role: 'assistant', parts: [call], finish_reason: 'tool_call' };
const booked = [{ role: 'assistant', parts: [{ type: 'text', content: 'Booked.' }], finish_reason: 'stop' }];

const first = { trace: 1, id: 1, from: 0, to: 100 };
const second = { trace: 2, id: 9, from: 1100, to: 1200 };

const openAiAgents = 'openinference.instrumentation.openai_agents';
const openAiSpan = { trace: 1, parent: 20, scope: openAiAgents };
const openAiRun = {
  ...openAiSpan,
  name: 'seats',
  values: { 'session.id': 's', 'openinference.span.kind': 'AGENT', 'agent.name': 'seats' },
};
const openAiModel = {
  ...openAiSpan,
  name: 'response',
  values: { 'session.id': 's', 'openinference.span.kind': 'LLM' },
};
const givenResult = {
  ...openAiModel,
  values: {
    ...openAiModel.values,
    'llm.input_messages.0.message.role': 'tool',
    'llm.input_messages.0.message.content': 'seat 31',
    'llm.input_messages.0.message.tool_call_id': 'call_1',
  },
};
const openAiTool = {
  ...openAiSpan,
  name: 'book_seat',
  values: { 'session.id': 's', 'openinference.span.kind': 'TOOL', 'input.value': '{"train":"M1"}' },
};

const frameworks: readonly Framework[] = [
  {
    name: 'LangGraph by LangSmith',
    spans: [
      {
        ...first,
        name: 'seats',
        scope: 'langsmith',
        values: {
          'langsmith.metadata.thread_id': 't',
          'gen_ai.prompt': '{"q": "Book"}',
          'gen_ai.completion': '{}',
        },
      },
      {
        ...first,
        id: 2,
        parent: 1,
        name: 'ask',
        scope: 'langsmith',
        failed: true,
        values: { 'langsmith.metadata.thread_id': 't', 'gen_ai.completion': '{}' },
        events: [
          {
            name: 'exception',
            values: {
              'exception.type': 'Exception',
              'exception.message': `GraphInterrupt(${question})Traceback (most recent call last):\n\n\n  File "x"`,
            },
          },
        ],
      },
      {
        ...second,
        name: 'seats',
        scope: 'langsmith',
        values: {
          'langsmith.metadata.thread_id': 't',
          'gen_ai.prompt':
            '{"input":{"graph":null,"update":null,"resume":{"decisions":[{"type":"approve"}]},"goto":[]}}',
        },
      },
    ],
    asked: { trace: 1, id: 2 },
    resumed: second,
    answer: 'approve',
    turn: first,
  },
  {
    name: 'LangGraph by OpenLLMetry, whose runs are in a span of their own',
    spans: [
      {
        ...first,
        name: 'invoke_agent seats',
        scope: 'opentelemetry.instrumentation.langchain',
        values: { ...conversation, ...agentRun },
      },
      {
        ...first,
        id: 2,
        parent: 1,
        name: 'execute_task ask',
        scope: 'opentelemetry.instrumentation.langchain',
        failed: true,
        values: { 'traceloop.association.properties.thread_id': 'trains', 'traceloop.span.kind': 'task' },
        events: [interrupted],
      },
      {
        ...second,
        id: 8,
        name: 'invoke_agent seats',
        scope: 'opentelemetry.instrumentation.langchain',
        values: { ...conversation, ...agentRun },
      },
      {
        ...second,
        parent: 8,
        name: 'seats.workflow',
        scope: 'opentelemetry.instrumentation.langchain',
        values: {
          'traceloop.association.properties.thread_id': 'trains',
          'traceloop.span.kind': 'workflow',
          'traceloop.entity.input':
            '{"inputs": {"graph": null, "update": null, "resume": "yes", "goto": []}, "tags": []}',
        },
      },
    ],
    asked: { trace: 1, id: 2 },
    resumed: second,
    answer: 'yes',
    turn: first,
  },
  {
    name: 'Pydantic AI',
    spans: [
      {
        ...first,
        name: 'invoke_agent seats',
        scope: 'pydantic-ai',
        values: {
          ...conversation,
          ...agentRun,
          'pydantic_ai.all_messages': json([...questionMessages, openCall]),
          final_result: json({ calls: [], approvals: [{ tool_name: 'book_seat', tool_call_id: 'call_1' }] }),
        },
      },
      {
        ...second,
        name: 'invoke_agent seats',
        scope: 'pydantic-ai',
        values: {
          ...conversation,
          ...agentRun,
          'pydantic_ai.all_messages': json([
            ...questionMessages,
            openCall,
            { role: 'user', parts: [{ type: 'tool_call_response', id: 'call_1', result: 'seat 31' }] },
            ...booked,
          ]),
          'pydantic_ai.new_message_index': 2,
          final_result: 'Booked.',
        },
      },
    ],
    asked: first,
    resumed: second,
    turn: first,
  },
  {
    name: 'Strands',
    spans: [
      {
        ...first,
        name: 'invoke_agent seats',
        scope: 'strands.telemetry.tracer',
        values: { ...agentRun, 'session.id': 's' },
        events: [
          { name: 'gen_ai.user.message', values: { content: '[{"text": "Book a seat"}]' } },
          {
            name: 'gen_ai.choice',
            values: {
              finish_reason: 'interrupt',
              message:
                "[{'id': 'v1:before_tool_call:call_1', 'name': 'approval', 'reason': 'Book?', 'response': None}]",
            },
          },
        ],
      },
      {
        ...second,
        name: 'invoke_agent seats',
        scope: 'strands.telemetry.tracer',
        values: { ...agentRun, 'session.id': 's' },
        events: [{ name: 'gen_ai.choice', values: { finish_reason: 'end_turn', message: 'Booked.' } }],
      },
    ],
    asked: first,
    resumed: second,
    turn: first,
  },
  {
    name: 'AI SDK',
    spans: [
      {
        ...first,
        name: 'invoke_agent gpt-5',
        scope: 'gen_ai',
        values: {
          ...conversation,
          ...agentRun,
          'gen_ai.input.messages': json(questionMessages),
          'gen_ai.output.messages': json([openCall]),
        },
      },
      {
        ...second,
        name: 'invoke_agent gpt-5',
        scope: 'gen_ai',
        values: {
          ...conversation,
          ...agentRun,
          'gen_ai.input.messages': json([
            ...questionMessages,
            { role: 'assistant', parts: [call, { type: 'tool-approval-request' }] },
            { role: 'tool', parts: [{ type: 'tool-approval-response' }] },
          ]),
          'gen_ai.output.messages': json(booked),
        },
      },
    ],
    asked: first,
    resumed: second,
    turn: first,
  },
  {
    name: "Microsoft's Agent Framework, whose first run has no conversation yet",
    spans: [
      {
        ...first,
        name: 'invoke_agent seats',
        scope: 'agent_framework',
        values: {
          ...agentRun,
          'gen_ai.input.messages': json(questionMessages),
          'gen_ai.output.messages': json([
            {
              role: 'assistant',
              parts: [
                call,
                {
                  type: 'function_approval_request',
                  function_call: { call_id: 'call_1', name: 'book_seat' },
                },
              ],
            },
          ]),
        },
      },
      {
        ...second,
        name: 'invoke_agent seats',
        scope: 'agent_framework',
        values: {
          ...agentRun,
          'gen_ai.conversation.id': 'resp_31',
          'gen_ai.input.messages': json([
            {
              role: 'user',
              parts: [
                {
                  type: 'function_approval_response',
                  approved: false,
                  function_call: { call_id: 'call_1', name: 'book_seat' },
                },
              ],
            },
          ]),
          'gen_ai.output.messages': json(booked),
        },
      },
    ],
    asked: first,
    resumed: second,
    answer: 'declined: book_seat',
  },
  {
    name: 'Mastra',
    spans: [
      {
        ...first,
        name: 'invoke_agent seats',
        scope: 'mastra',
        values: {
          ...conversation,
          ...agentRun,
          'mastra.span.type': 'agent_run',
          'mastra.metadata.runId': 'run-1',
          'mastra.agent_run.input': 'Book a seat',
          'mastra.agent_run.output':
            '{"status":"suspended","reason":"tool-call-approval","toolCallId":"call_1"}',
        },
      },
      {
        ...second,
        trace: 1,
        parent: 1,
        name: 'invoke_agent seats',
        scope: 'mastra',
        values: {
          ...conversation,
          ...agentRun,
          'mastra.span.type': 'agent_run',
          'mastra.metadata.runId': 'run-1',
          'mastra.metadata.resumed': true,
          'mastra.metadata.resumedFromSpanId': hex(1, 16),
          'mastra.agent_run.input': '{"approved":true,"toolName":"book_seat","toolCallId":"call_1"}',
          'mastra.agent_run.output': '{"text":"Booked."}',
        },
      },
    ],
    asked: first,
    resumed: { trace: 1, id: 9 },
    answer: 'approved: book_seat',
    turn: first,
  },
  {
    name: 'Google ADK, whose run goes on with the tool',
    spans: [
      {
        ...first,
        name: 'invoke_agent seats',
        scope: 'gcp.vertex.agent',
        values: { ...conversation, ...agentRun },
      },
      {
        ...first,
        to: 10,
        id: 3,
        parent: 1,
        name: 'generate_content gpt-5',
        scope: 'gcp.vertex.agent',
        values: { 'gen_ai.operation.name': 'generate_content', 'gen_ai.provider.name': 'openai' },
      },
      {
        ...first,
        from: 20,
        id: 2,
        parent: 1,
        name: 'execute_tool book_seat',
        scope: 'gcp.vertex.agent',
        values: {
          ...toolRun,
          'gen_ai.tool.call.result':
            '{"error": "This tool call requires confirmation, please approve or reject."}',
        },
      },
      {
        ...second,
        name: 'invoke_agent seats',
        scope: 'gcp.vertex.agent',
        values: { ...conversation, ...agentRun },
      },
      {
        // ADK can take its time before it runs the tool.
        ...second,
        from: 1160,
        id: 10,
        parent: 9,
        name: 'execute_tool book_seat',
        scope: 'gcp.vertex.agent',
        values: { ...toolRun, 'gen_ai.tool.call.result': '{"seat": "31"}' },
      },
    ],
    asked: { trace: 1, id: 2 },
    resumed: second,
    turn: first,
  },
  ...['approved', 'declined'].map(
    (verdict): Framework => ({
      name: `OpenAI's Agents, whose runs are in one trace: ${verdict}`,
      spans: [
        {
          trace: 1,
          id: 20,
          name: 'Seats',
          scope: openAiAgents,
          from: 0,
          to: 1200,
          values: { 'session.id': 's', 'openinference.span.kind': 'AGENT' },
        },
        { ...openAiRun, id: 1, from: 0, to: 100 },
        { ...openAiModel, id: 3, parent: 1, from: 0, to: 10 },
        { ...openAiTool, id: 2, parent: 1, from: 20, to: 21 },
        { ...openAiRun, id: 9, from: 1021, to: 1200 },
        ...(verdict === 'approved'
          ? [
              {
                ...openAiTool,
                id: 10,
                parent: 9,
                from: 1022,
                to: 1030,
                values: { ...openAiTool.values, 'output.value': 'seat 31' },
              },
            ]
          : []),
        { ...givenResult, id: 11, parent: 9, from: 1040, to: 1100 },
      ],
      asked: { trace: 1, id: 2 },
      resumed: { trace: 1, id: 9 },
      turn: { trace: 1, id: 20 },
    }),
  ),
  {
    name: "OpenAI's Agents, which report no run that goes on",
    spans: [
      {
        ...first,
        name: 'Seats',
        scope: 'openinference.instrumentation.openai_agents',
        values: { 'session.id': 's', 'openinference.span.kind': 'AGENT' },
      },
      {
        ...first,
        to: 10,
        id: 3,
        parent: 1,
        name: 'response',
        scope: 'openinference.instrumentation.openai_agents',
        values: { 'session.id': 's', 'openinference.span.kind': 'LLM' },
      },
      {
        ...first,
        from: 20,
        id: 2,
        parent: 1,
        name: 'book_seat',
        scope: 'openinference.instrumentation.openai_agents',
        values: { 'session.id': 's', 'openinference.span.kind': 'TOOL', 'input.value': '{"train":"M1"}' },
      },
    ],
    asked: { trace: 1, id: 2 },
  },
];

describe.each(frameworks)('a question to a person in $name', ({ spans, asked, resumed, answer, turn }) => {
  it.each(['as it happened', 'in the other order', 'in one request'])(
    'is a wait until the answer, %s',
    async (order) => {
      const project = newProject();
      const byRun = [
        spans.filter(({ from }) => from < 1000).toReversed(),
        spans.filter(({ from }) => from >= 1000).toReversed(),
      ].filter((some) => some.length > 0);
      const requests = {
        'as it happened': byRun,
        'in the other order': byRun.toReversed(),
        'in one request': [byRun.flat()],
      }[order];
      for (const some of requests ?? []) await send(project, some);
      const calls = await readCalls(project);
      const { svc } = calls.get(toCallId(asked))?.summary ?? {};
      expect(calls.get(toCallId(asked))?.exception).toBeNull();
      if (resumed) expect(svc).toMatchObject({ waited_ms: 1000 });
      else expect(svc).toMatchObject({ waiting: true });
      if (answer !== undefined)
        expect(calls.get(toCallId(resumed ?? asked))?.inputs.messages).toEqual([
          { role: 'user', content: answer },
        ]);
      if (turn)
        expect(new Set([...calls.values()].map(({ turn_id }) => turn_id))).toEqual(new Set([toCallId(turn)]));
    },
  );
});

it.each<[string, readonly SpanOf[]]>([
  [
    'was handed over to by another one',
    [
      { ...openAiRun, id: 9, from: 1021, to: 1105 },
      { ...openAiModel, id: 11, parent: 9, from: 1022, to: 1100 },
      { ...openAiRun, id: 12, from: 1110, to: 1200 },
      { ...givenResult, id: 13, parent: 12, from: 1112, to: 1190 },
    ],
  ],
  [
    'may have had steps that came in another request',
    [
      { ...openAiRun, id: 9, from: 1021, to: 1200 },
      { ...givenResult, id: 11, parent: 9, from: 1100, to: 1190 },
    ],
  ],
])('a run of an agent by OpenAI answers no question if it %s', async (_, spans) => {
  const project = newProject();
  const tool = { ...openAiTool, id: 2, parent: 1, from: 20, to: 21 };
  await send(project, [...spans.toReversed(), { ...openAiRun, id: 1, from: 0, to: 100 }, tool]);
  expect((await readCalls(project)).get(toCallId(tool))?.summary.svc).toMatchObject({ waiting: true });
});

it('a tool of an agent by OpenAI that gives nothing waits for nobody', async () => {
  const project = newProject();
  const scope = 'openinference.instrumentation.openai_agents';
  const values = { 'session.id': 's' };
  await send(project, [
    { ...first, name: 'Seats', scope, values: { ...values, 'openinference.span.kind': 'AGENT' } },
    {
      ...first,
      id: 2,
      parent: 1,
      to: 50,
      name: 'log',
      scope,
      values: { ...values, 'openinference.span.kind': 'TOOL', 'input.value': '{}' },
    },
    {
      ...first,
      id: 3,
      parent: 1,
      from: 60,
      name: 'response',
      scope,
      values: { ...values, 'openinference.span.kind': 'LLM' },
    },
  ]);
  const calls = await readCalls(project);
  expect(calls.get(toCallId({ trace: 1, id: 2 }))?.summary.svc).not.toHaveProperty('waiting');
});
