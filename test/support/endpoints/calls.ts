import { embeddings } from '../../../local/inference.ts';
import {
  agentJson,
  attributes,
  exportJson,
  logsJson,
  recordJson,
  spanExport,
  spanJson,
  startNanos,
} from '../otel/otel.ts';
import type { Sent } from '../service/in-process.ts';
import { at, type Fixture, makeFeedback, makeStart, missing } from './fixture.ts';
import {
  callReads,
  calls,
  callViews,
  end,
  forBucket,
  largeNoteOn,
  noise,
  report,
  type Scenario,
  start,
} from './scenario.ts';

const oneStart = (item: ReturnType<typeof start>): Sent => ({ path: '/call/start', body: item.req });
const oneEnd = (item: ReturnType<typeof end>): Sent => ({ path: '/call/end', body: item.req });
const views = (p: string): Sent[] => [...callViews(p), ...callReads(p, 'c')];

const starts: readonly Scenario[] = [
  { name: 'a small start', request: (p) => oneStart(start(p, 'c')), views, atomic: true },
  {
    name: 'a start whose payload is a segment',
    request: (p) => oneStart(start(p, 'c', { inputs: { q: noise(20_000) } })),
    views,
    atomic: true,
  },
  {
    name: 'a start whose payload is an object',
    request: (p) => oneStart(start(p, 'c', { inputs: { q: noise(forBucket) } })),
    views,
    atomic: true,
  },
  {
    name: 'a start of a child that takes the trace of its parent',
    before: (p) => [report(start(p, 'parent'))],
    request: (p) => oneStart(start(p, 'c', { parent_id: 'parent', trace_id: null })),
    views,
    atomic: true,
  },
  {
    name: 'a start that replaces one beside its end, and moves it',
    before: (p) => [report(start(p, 'c'), end(p, 'c'))],
    request: (p) =>
      oneStart(start(p, 'c', { trace_id: 'moved', started_at: '2026-10-01T00:00:00.5Z', op_name: 'other' })),
    views,
  },
  {
    name: 'a start behind its end',
    before: (p) => [report(end(p, 'c', { output: noise(20_000) }))],
    request: (p) => oneStart(start(p, 'c')),
    views,
  },
];

const ends: readonly Scenario[] = [
  {
    name: 'a small end',
    before: (p) => [report(start(p, 'c'))],
    request: (p) => oneEnd(end(p, 'c')),
    views,
    atomic: true,
  },
  { name: 'an end before its start', request: (p) => oneEnd(end(p, 'c')), views, atomic: true },
  {
    name: 'an end whose payload is an object',
    before: (p) => [report(start(p, 'c'))],
    request: (p) => oneEnd(end(p, 'c', { output: noise(forBucket) })),
    views,
    atomic: true,
  },
  {
    name: 'an end that replaces one that lies beside the start',
    before: (p) => [report(start(p, 'c'), end(p, 'c'))],
    request: (p) => oneEnd(end(p, 'c', { output: 'another', exception: 'failed' })),
    views,
    atomic: true,
  },
];

const batches: readonly Scenario[] = [
  {
    name: 'calls with their ends, of two projects, one in the bucket',
    request: (p) =>
      report(
        ...calls(p, 40),
        start(p, 'c', { inputs: { q: noise(forBucket) } }),
        end(p, 'c'),
        start(`${p}-2`, 'c'),
      ),
    views: (p) => [...views(p), ...callViews(`${p}-2`)],
  },
  {
    name: 'starts alone, and ends of what was started before',
    before: (p) => [report(...Array.from({ length: 30 }, (_, i) => start(p, `e${i}`)))],
    request: (p) =>
      report(
        ...Array.from({ length: 30 }, (_, i) => end(p, `e${i}`)),
        ...Array.from({ length: 30 }, (_, i) => start(p, `s${i}`, { inputs: { q: noise(600, `${i}`) } })),
      ),
    views,
  },
  {
    name: 'what was reported already, with other content',
    before: (p) => [report(...calls(p, 12)), report(start(p, 'c'), end(p, 'x'))],
    request: (p) =>
      report(
        ...calls(p, 12, { op_name: 'other' }).filter((_, i) => i % 3 !== 1),
        start(p, 'x'),
        start(p, 'c', { trace_id: 'moved' }),
        end(p, 'c'),
      ),
    views,
  },
];

const updates: readonly Scenario[] = [
  {
    name: 'another display name',
    before: (p) => [report(start(p, 'c'), end(p, 'c'))],
    request: (p) => ({
      path: '/call/update',
      body: { project_id: p, call_id: 'c', display_name: 'Answer' },
    }),
    views,
    atomic: true,
  },
];

/** A call with so many children, which have one each. */
const family = (p: string, children: number): object[] => [
  start(p, 'c', { inputs: { q: noise(2000) } }),
  end(p, 'c'),
  ...Array.from({ length: children }, (_, i) => [
    start(p, `child ${i}`, { parent_id: 'c' }),
    end(p, `child ${i}`),
    start(p, `grandchild ${i}`, { parent_id: `child ${i}` }),
  ]).flat(),
];

const deletions: readonly Scenario[] = [
  {
    name: 'a call with what is below it, beside others in its segment',
    before: (p) => [
      report(...family(p, 8), ...calls(p, 3)),
      report(end(p, 'grandchild 0', { output: noise(5000) })),
    ],
    request: (p) => ({ path: '/calls/delete', body: { project_id: p, call_ids: ['c', 'nothing'] } }),
    views,
  },
  {
    name: 'a call whose payload is an object that it shares',
    before: (p) => [
      report(start(p, 'c', { inputs: { q: noise(40_000) } }), end(p, 'c', { output: noise(forBucket, 'b') })),
    ],
    request: (p) => ({ path: '/calls/delete', body: { project_id: p, call_ids: ['c'] } }),
    views,
    atomic: true,
  },
];

const makeId = (i: number): string => (i + 1).toString(16).padStart(16, '0');

/** Spans of one trace and thread, below the first, whose payloads make a segment. */
const someSpans = (count: number, bytes: number) =>
  Array.from({ length: count }, (_, i) =>
    spanJson({
      spanId: makeId(i),
      ...(i > 0 && { parentSpanId: makeId(0) }),
      attributes: attributes({ text: noise(bytes, `${i}`), 'session.id': 'thread' }),
    }),
  );

const spans: readonly Scenario[] = [
  {
    name: 'spans of two projects, one of them in the bucket',
    request: (p) => {
      const one = exportJson({ 'svc.project_id': p }, someSpans(30, 600));
      const other = exportJson({ 'svc.project_id': `${p}-2` }, someSpans(2, forBucket));
      const resourceSpans = [one, other].flatMap((sent) => sent.resourceSpans as object[]);
      return { path: '/otel/v1/traces', body: { resourceSpans } };
    },
    views: (p) => [...callViews(p), ...callViews(`${p}-2`)],
  },
];

/** A root that names a thread and a user, and two spans below it, as far as they are chosen. */
const chooseSpans = (p: string, isChosen: (span: object, i: number) => boolean): Sent => ({
  path: '/otel/v1/traces',
  body: exportJson(
    { 'svc.project_id': p },
    Array.from({ length: 3 }, (_, i) =>
      spanJson({
        spanId: makeId(i),
        ...(i > 0 && { parentSpanId: makeId(0) }),
        attributes: attributes(i === 0 ? { 'session.id': 'thread', 'user.id': 'ada' } : { text: `${i}` }),
      }),
    ).filter(isChosen),
  ),
});

/** A request without its content, whose payload is in the bucket. */
const bareRequest = (p: string): Sent => ({
  path: '/otel/v1/traces',
  body: exportJson({ 'svc.project_id': p }, [
    spanJson({
      attributes: attributes({
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'app.note': noise(forBucket),
      }),
    }),
  ]),
});

/** The content of that request. */
const contentRecords = (p: string): Sent => ({
  path: '/otel/v1/logs',
  body: logsJson(
    p,
    recordJson('gen_ai.user.message', { content: 'where is my order?' }),
    recordJson('gen_ai.choice', { index: 0, message: { role: 'assistant', content: noise(900) } }),
    agentJson('claude_code.user_prompt', { 'prompt.id': 'one', prompt: 'fix the build' }),
  ),
});

/** The result of an evaluation of the answer of {@link answeredRequest}. */
const resultJson = (name: string, fields: object = {}) =>
  recordJson(
    'gen_ai.evaluation.result',
    {
      'gen_ai.evaluation.name': name,
      'gen_ai.evaluation.score.value': 0.5,
      'gen_ai.evaluation.explanation': noise(300),
      'gen_ai.response.id': 'resp_1',
    },
    { ...fields },
  );

const spanless = { traceId: '', spanId: '' };

/** Results of evaluations: of a span, of an answer in a trace, and of an answer. */
const resultRecords = (p: string): Sent => ({
  path: '/otel/v1/logs',
  body: logsJson(
    p,
    resultJson('Relevance'),
    resultJson('Fluency', { spanId: '' }),
    resultJson('Toxicity', spanless),
  ),
});

/** A request whose answer has an id, and which has been judged. */
const answeredRequest = (p: string): Sent => ({
  path: '/otel/v1/traces',
  body: exportJson({ 'svc.project_id': p }, [
    spanJson({
      attributes: attributes({
        'gen_ai.operation.name': 'chat',
        'gen_ai.response.id': 'resp_1',
        'gen_ai.usage.input_tokens': 5,
        'gen_ai.input.messages': '[]',
      }),
      events: [
        {
          timeUnixNano: String(startNanos),
          name: 'gen_ai.evaluation.result',
          attributes: attributes({
            'gen_ai.evaluation.name': 'Tone',
            'gen_ai.evaluation.score.label': 'kind',
          }),
        },
      ],
    }),
  ]),
});

/** Verdicts one by one: which of those that are written at the same time comes first is left to chance. */
const judgedViews = (p: string): Sent[] => [
  ...callViews(p),
  { path: '/feedback/query', body: { project_id: p } },
];

const joinedSpans: readonly Scenario[] = [
  ...spans,
  {
    name: 'a span whose content came before it',
    before: (p) => [contentRecords(p)],
    request: bareRequest,
    views: callViews,
  },
  {
    name: 'spans whose root came before them',
    before: (p) => [chooseSpans(p, (_, i) => i === 0)],
    request: (p) => chooseSpans(p, (_, i) => i > 0),
    views: callViews,
  },
  {
    name: 'a root whose spans came before it',
    before: (p) => [chooseSpans(p, (_, i) => i > 0)],
    request: (p) => chooseSpans(p, (_, i) => i === 0),
    views: callViews,
  },
  {
    name: 'a span whose verdicts came before it',
    before: (p) => [resultRecords(p)],
    request: answeredRequest,
    views: judgedViews,
  },
];

const logRecords: readonly Scenario[] = [
  {
    name: 'content of a span that came before it, and a prompt of a coding agent',
    before: (p) => [bareRequest(p)],
    request: contentRecords,
    views: callViews,
  },
  {
    name: 'verdicts on a call that came before them',
    before: (p) => [answeredRequest(p)],
    request: resultRecords,
    views: judgedViews,
  },
];

const path = '/inference/v1/chat/completions';
const messages = [{ role: 'user', content: noise(5000) }];

const recorded: readonly Scenario[] = [
  {
    name: 'a request that is recorded',
    request: (p) => ({ path, body: { model: 'any', messages }, headers: { 'openai-project': p } }),
    views: callViews,
    atomic: true,
    unharmed: true,
  },
  {
    name: 'a streamed request that is recorded',
    request: (p) => ({
      path,
      body: { model: 'any', messages, stream: true },
      headers: { 'openai-project': p },
    }),
    views: callViews,
    atomic: true,
    unharmed: true,
  },
  {
    name: 'a request of Messages whose answer is kept',
    request: (p) => ({
      path: '/inference/v1/messages',
      body: { model: 'any', max_tokens: 100, messages },
      headers: { 'x-project': p, 'x-cache-ttl': '60' },
    }),
    views: callViews,
    atomic: true,
    unharmed: true,
  },
];

const writeCalls = [
  'calls: BatchGetItem BatchWriteItem PartiQLInsert PutItem',
  'bucket/segments/*: PutObject',
  'bookkeeping: UpdateItem',
] as const;

const joinCalls = [
  'calls: BatchGetItem BatchWriteItem DeleteItem PartiQLInsert PutItem Query',
  'bucket/segments/*: DeleteObject GetObject PutObject',
  'bucket: ListBucket',
  'bookkeeping: UpdateItem',
  'feedback: BatchGetItem PartiQLInsert PutItem',
] as const;

const verdictTaken = { 'PutItem on feedback': 'the id of a verdict that was replaced and is sent again' };

const replaced = 'a call that records of a coding agent made by themselves goes once its span comes';

const ofAgents = { 'DeleteItem on calls': replaced, 'DeleteObject on bucket/segments/*': replaced };

const meanwhile = 'log records that come while their span is being written join the stored call';

/** The routes that write calls. */
export const callFixtures = {
  '/call/start': {
    permitted: writeCalls,
    body: (p, { trace }) => ({ start: makeStart(p, 'c', { trace_id: trace }) }),
    answer: '{"id":"c","trace_id":"trace-non"}',
    projectAt: ['body', 'start', 'project_id'],
    probes: { 'a parent': (p, { call }) => ({ start: makeStart(p, 'adopted', { parent_id: call }) }) },
    scenarios: starts,
  },
  '/call/end': {
    permitted: writeCalls,
    body: (p) => ({ end: { project_id: p, id: 'c', ended_at: at(1) } }),
    answer: '{}',
    projectAt: ['body', 'end', 'project_id'],
    probes: {
      'a call': (p, { call }) => ({ end: { project_id: p, id: call, ended_at: at(2), output: 'ours' } }),
    },
    scenarios: ends,
  },
  '/call/upsert_batch': {
    permitted: writeCalls,
    body: (p) => ({ batch: [{ mode: 'start', req: { start: makeStart(p, 'c', { trace_id: 't' }) } }] }),
    answer: '{"res":[{"id":"c","trace_id":"t"}]}',
    projectAt: ['body', 'batch', '0', 'req', 'start', 'project_id'],
    probes: {
      'a parent, a thread and a call': (p, { call, thread }) => ({
        batch: [
          { mode: 'start', req: { start: makeStart(p, 'adopted', { parent_id: call, thread_id: thread }) } },
          { mode: 'end', req: { end: { project_id: p, id: call, ended_at: at(2) } } },
        ],
      }),
    },
    scenarios: batches,
  },
  '/call/update': {
    permitted: ['calls: BatchGetItem PutItem'],
    body: (p, { call }) => ({ project_id: p, call_id: call, display_name: 'None' }),
    ...missing('call_id', 'there is no such call in this project, or no start of it yet'),
    scenarios: updates,
  },
  '/calls/delete': {
    permitted: [
      'calls: BatchGetItem BatchWriteItem PutItem DeleteItem Query',
      'calls/index/by_trace: Query',
      'feedback: BatchGetItem DeleteItem PutItem',
      'feedback/index/by_ref: Query',
      'bucket/segments/*: GetObject PutObject DeleteObject',
      'bucket/feedback/*: DeleteObject',
      'bucket: ListBucket',
      'bookkeeping: UpdateItem',
      'audit: PartiQLInsert',
    ],
    body: (p, { call, child }) => ({ project_id: p, call_ids: [call, child] }),
    answer: '{"num_deleted":0}',
    scenarios: deletions,
    uses: [
      {
        name: 'a call with feedback, in items and in the bucket',
        before: (p) => [
          report(start(p, 'c'), end(p, 'c')),
          largeNoteOn(p, 'c'),
          { path: '/feedback/create', body: makeFeedback(p, { id: 'small' }) },
        ],
        request: (p) => ({ path: '/calls/delete', body: { project_id: p, call_ids: ['c'] } }),
      },
      {
        name: 'one of the calls that share a segment in the bucket, and one whose end came first',
        before: (p) => [
          report(
            ...['a'.repeat(2_100_000), noise(20_000), noise(230_000)].map((q, i) =>
              start(p, `shared ${i}`, { inputs: { q } }),
            ),
          ),
          // Its former payload stays where it is until the call is deleted.
          report(start(p, 'shared 1', { inputs: {} })),
          report(end(p, 'early')),
          report(start(p, 'early')),
        ],
        request: (p) => ({ path: '/calls/delete', body: { project_id: p, call_ids: ['shared 1', 'early'] } }),
      },
    ],
  },
  '/otel/v1/traces': {
    permitted: [...joinCalls, 'calls/index/by_trace: Query'],
    seldom: {
      'GetObject on bucket/segments/*': meanwhile,
      'ListBucket on bucket': meanwhile,
      ...verdictTaken,
      ...ofAgents,
    },
    body: (p) => spanExport(p),
    answer: '{}',
    probes: { 'a thread': (p, { thread }) => spanExport(p, { 'session.id': thread }) },
    scenarios: joinedSpans,
  },
  '/otel/v1/logs': {
    permitted: [...joinCalls, 'calls/index/by_time: Query', 'calls/index/by_trace: Query'],
    seldom: { ...verdictTaken, ...ofAgents },
    body: (p) => logsJson(p, agentJson('claude_code.user_prompt', { 'prompt.id': 'one' })),
    answer: '{}',
    probes: {
      'a thread': (p, { thread }) =>
        logsJson(p, agentJson('claude_code.user_prompt', { 'session.id': thread })),
    },
    scenarios: logRecords,
  },
  '/otel/v1/metrics': {
    permitted: [],
    body: (p) => ({ resourceMetrics: [{ resource: { attributes: attributes({ 'svc.project_id': p }) } }] }),
    answer: '{}',
    namesNothing: true,
  },
  '/inference/v1/models': {
    namesNothing: true,
    permitted: [],
    answer: '{"object":"list","data":[]}',
    projectAt: ['header', 'authorization'],
    refusal: 'this key may not use inference',
  },
  '/inference/v1/models/{id+}': {
    namesNothing: true,
    permitted: [],
    path: () => '/inference/v1/models/m',
    answer: '{"id":"m","object":"model","created":0,"owned_by":"local"}',
    projectAt: ['header', 'authorization'],
    refusal: 'this key may not use inference',
  },
  '/inference/v1/{path+}': {
    namesNothing: true,
    permitted: [
      'calls: BatchWriteItem',
      'bucket/segments/*: PutObject',
      'bucket/answers/*: GetObject PutObject',
      'bucket: ListBucket',
      'bookkeeping: UpdateItem',
    ],
    path: () => '/inference/v1/embeddings',
    headers: (p) => ({ 'openai-project': p }),
    body: () => ({ model: 'm', input: 'text' }),
    answer: JSON.stringify(embeddings({ input: 'text' }, undefined)),
    projectAt: ['header', 'openai-project'],
    scenarios: recorded,
    uses: [
      {
        name: 'a large request that is recorded',
        request: (p) => ({
          path,
          body: { model: 'any', messages: [{ role: 'user', content: noise(forBucket) }] },
          headers: { 'openai-project': p },
        }),
      },
    ],
  },
} as const satisfies Readonly<Record<string, Fixture>>;
