import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** What a check found wrong, and what to do about it. */
export class Red extends Error {
  override readonly name = 'Red';
  readonly advice: string;

  constructor(found: string, advice: string) {
    super(found);
    this.advice = advice;
  }
}

/** What the checks ask, and as whom. */
export interface Target {
  /** Without a slash at its end. */
  readonly url: string;
  readonly project: string;
  /** A key that may read, write and infer in the project. */
  readonly key: string;
  /** A key that was revoked before it was ever used. */
  readonly revoked: string;
  /** What each id of this run begins with. */
  readonly run: string;
  /** Models to send one request of each kind to. @default - none is asked */
  readonly models: { readonly chat?: string | undefined; readonly embedding?: string | undefined };
}

/** One item of the list. It throws {@link Red}, or whatever went wrong. */
export interface Check {
  readonly name: string;
  readonly run: (target: Target) => Promise<void>;
}

/** The documents' page about what was not seen on AWS. */
const list = 'docs/architecture.md, "What was not tested against AWS"';
const theLog = 'find the request in the functions’ log by its x-request-id (query "One request")';

/** Throws {@link Red} unless it holds. */
const must = (holds: boolean, found: string, advice: string): void => {
  if (!holds) throw new Red(found, advice);
};

const basic = (key: string): string => `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;

interface Ask extends Omit<RequestInit, 'body' | 'headers'> {
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, or bytes as they are sent. @default - none */
  readonly body?: object | Uint8Array<ArrayBuffer>;
}

const ask = ({ url, key }: Target, path: string, { headers, body, ...init }: Ask = {}): Promise<Response> =>
  fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: basic(key), 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
    ...init,
  });

/** The text of an answer that has to have a status. */
const readText = async (answer: Response, status = 200): Promise<string> => {
  const text = await answer.text();
  const id = answer.headers.get('x-request-id') ?? answer.headers.get('x-amzn-requestid');
  must(answer.status === status, `${answer.status} ${text.slice(0, 200)} (request ${id})`, theLog);
  return text;
};

const readJson = async (answer: Response, status = 200): Promise<unknown> =>
  JSON.parse(await readText(answer, status));

/**
 * Waits for what comes late: an index, a log, a file.
 *
 * @param late says what is still missing; undefined once it is there
 * @throws Red with what was missing in the end
 */
export const eventually = async (
  late: () => Promise<Red | undefined>,
  ms: number,
  everyMs = 500,
): Promise<void> => {
  const until = performance.now() + ms;
  for (;;) {
    const missing = await late();
    if (!missing) return;
    if (performance.now() > until) throw missing;
    await sleep(everyMs);
  }
};

/** How many calls are reported, and what they hold: more than Lambda's 6 MB of a buffered answer. */
const calls = { requests: 3, each: 25, characters: 100_000 };

const makeIds = ({ run }: Target): string[] =>
  Array.from({ length: calls.requests * calls.each }, (_, i) => `${run}-${i}`);

const makeBatch = ({ project, run }: Target, ids: readonly string[]): object => {
  const started_at = new Date().toISOString();
  return {
    batch: ids.flatMap((id) => [
      {
        mode: 'start',
        req: {
          start: {
            project_id: project,
            id,
            trace_id: run,
            op_name: 'verify',
            started_at,
            inputs: { text: randomUUID().repeat(Math.ceil(calls.characters / 36)) },
          },
        },
      },
      { mode: 'end', req: { end: { project_id: project, id, ended_at: started_at, output: 'done' } } },
    ]),
  };
};

/** The calls of this run. */
const own = ({ project, run }: Target) => ({ project_id: project, filter: { trace_ids: [run] } });

const report = async (target: Target): Promise<void> => {
  const ids = makeIds(target);
  for (let i = 0; i < calls.requests; i++) {
    const body = makeBatch(target, ids.slice(i * calls.each, (i + 1) * calls.each));
    await readText(await ask(target, '/call/upsert_batch', { body }));
  }
};

const query = async (target: Target): Promise<void> => {
  await eventually(async () => {
    const answer = await ask(target, '/calls/stream_query', { body: { ...own(target), columns: ['id'] } });
    const lines = (await readText(answer)).split('\n').filter(Boolean);
    const count = calls.requests * calls.each;
    if (lines.length === count) return undefined;
    return new Red(`${lines.length} of ${count} calls are found`, 'run it again: an index is late');
  }, 20_000);
};

const stream = async (target: Target): Promise<void> => {
  const answer = await ask(target, '/calls/stream_query', {
    body: own(target),
    headers: { 'accept-encoding': 'identity' },
  });
  const bytes = Buffer.byteLength(await readText(answer));
  must(bytes > 6_291_556, `${bytes} bytes came, fewer than were stored`, `see ${list}: response streaming`);
};

const compressed = async (target: Target): Promise<void> => {
  const answer = await ask(target, '/calls/stream_query', {
    body: { ...own(target), columns: ['id'] },
    headers: { 'accept-encoding': 'gzip' },
  });
  const coding = answer.headers.get('content-encoding');
  await readText(answer);
  must(coding === 'gzip', `the answer’s coding is ${coding}`, `see ${list}: the gateway’s binary types`);
};

const leave = async (target: Target): Promise<void> => {
  const leaving = new AbortController();
  const answer = await ask(target, '/calls/stream_query', { body: own(target), signal: leaving.signal });
  await answer.body?.getReader().read();
  leaving.abort();
  const next = await ask(target, '/calls/stream_query', {
    body: { ...own(target), columns: ['id'], limit: 1 },
  });
  must((await readText(next)).includes(target.run), 'the next query finds nothing', theLog);
};

const bucket = async (target: Target): Promise<void> => {
  const { project, run } = target;
  // Too long for an item: it goes to the bucket, with conditions on what is there.
  const val = { text: randomUUID().repeat(20_000) };
  const create = () =>
    ask(target, '/obj/create', { body: { obj: { project_id: project, object_id: run, val } } });
  const { digest } = (await readJson(await create())) as { digest: string };
  await readText(await create());
  const body = { project_id: project, object_id: run, digest };
  const { obj } = (await readJson(await ask(target, '/obj/read', { body }))) as {
    obj: { val: { text: string } };
  };
  must(obj.val.text === val.text, 'the value came back as another', theLog);
};

const feedback = async (target: Target): Promise<void> => {
  const { project, run } = target;
  const record = { project_id: project, feedback_type: 'verify', payload: { run } };
  const ref = { svc_ref: `svc:///${project}/call/${run}-0` };
  await readText(await ask(target, '/feedback/create', { body: { ...record, ...ref } }));
};

const makeSpan = (id: string) => ({ traceId: randomUUID().replaceAll('-', ''), spanId: id, name: 'verify' });

const spansAsJson = async (target: Target): Promise<void> => {
  const now = String(Date.now() * 1_000_000);
  const span = { ...makeSpan('00000000000000a1'), startTimeUnixNano: now, endTimeUnixNano: now };
  const body = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
  const headers = { project_id: target.project };
  const answer = await readJson(await ask(target, '/otel/v1/traces', { body, headers }));
  must(!('partialSuccess' in Object(answer)), `spans were refused: ${JSON.stringify(answer)}`, theLog);
};

const spansAsProtobuf = async (target: Target): Promise<void> => {
  const now = BigInt(Date.now()) * 1_000_000n;
  const { traceId, spanId, name } = makeSpan('00000000000000b2');
  const { Bit64, LengthDelimited } = WireType;
  const span = new BinaryWriter()
    .tag(1, LengthDelimited)
    .bytes(Buffer.from(traceId, 'hex'))
    .tag(2, LengthDelimited)
    .bytes(Buffer.from(spanId, 'hex'))
    .tag(5, LengthDelimited)
    .string(name)
    .tag(7, Bit64)
    .fixed64(now)
    .tag(8, Bit64)
    .fixed64(now)
    .finish();
  const inField = (field: number, message: Uint8Array) =>
    new BinaryWriter().tag(field, LengthDelimited).bytes(message).finish();
  // ExportTraceServiceRequest.resource_spans, ResourceSpans.scope_spans, ScopeSpans.spans
  const body = inField(1, inField(2, inField(2, span)));
  const headers = { project_id: target.project, 'content-type': 'application/x-protobuf' };
  const advice = 'see docs/decisions/0154: how the gateway passes protobuf on';
  for (const [how, sendSpans] of [
    ['plain', () => ask(target, '/otel/v1/traces', { body, headers })],
    [
      'gzip',
      () =>
        ask(target, '/otel/v1/traces', {
          body: new Uint8Array(gzipSync(body)),
          headers: { ...headers, 'content-encoding': 'gzip' },
        }),
    ],
  ] as const) {
    const answer = await sendSpans();
    const type = answer.headers.get('content-type');
    const text = await answer.text();
    must(answer.status === 200, `${how}: ${answer.status} ${text.slice(0, 200)}`, advice);
    must(type === 'application/x-protobuf', `${how}: the answer is ${type}`, advice);
  }
};

const page = async ({ url }: Target): Promise<void> => {
  const headers = { accept: 'text/html' };
  const answer = await fetch(`${url}/`, { headers });
  const text = await answer.text();
  const type = answer.headers.get('content-type') ?? '';
  must(
    answer.status === 200 && type.startsWith('text/html'),
    `GET / leads to ${answer.status} ${type}`,
    theLog,
  );
  must(
    answer.url.endsWith('/ui/'),
    `GET / leads to ${answer.url}`,
    'see docs/decisions/0176: relative addresses',
  );
  const [, script] = /<script[^>]* src="([^"]+)"/.exec(text) ?? [];
  must(script !== undefined, 'the page has no script', theLog);
  const code = await fetch(new URL(script ?? '', answer.url));
  must(code.status === 200, `the page’s script is ${code.status}`, theLog);
  await code.arrayBuffer();
};

/** Each kind of refusal, by whom, and its status. */
const refusals = async (target: Target): Promise<void> => {
  const { url, project, key, revoked } = target;
  const post = (path: string, body: string, headers: Record<string, string>) =>
    fetch(url + path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  const good = JSON.stringify({ project_id: project });
  const as = { authorization: basic(key) };
  const tries: readonly (readonly [string, number, () => Promise<Response>])[] = [
    ['no key', 401, () => post('/calls/query_stats', good, {})],
    ['no key that there is', 401, () => post('/calls/query_stats', good, { authorization: basic('x') })],
    ['a revoked key', 401, () => post('/calls/query_stats', good, { authorization: basic(revoked) })],
    ['another’s project', 403, () => post('/calls/query_stats', '{"project_id":"nobody/nothing"}', as)],
    ['a wrong body', 422, () => post('/calls/query_stats', '{"project_id":7}', as)],
    ['no JSON', 422, () => post('/calls/query_stats', '{', as)],
    ['another type', 415, () => post('/calls/query_stats', good, { ...as, 'content-type': 'text/csv' })],
    [
      'what is not there',
      404,
      () => post('/obj/read', JSON.stringify({ project_id: project, object_id: 'no', digest: 'no' }), as),
    ],
    ['no such route', 404, () => post('/no/such/route', good, {})],
    ['no such route, with a key', 404, () => post('/no/such/route', good, as)],
    ['7 MB', 413, () => post('/call/upsert_batch', JSON.stringify({ batch: ['x'.repeat(7_000_000)] }), as)],
    [
      'a model that goes nowhere',
      404,
      () => post('/inference/v1/no/such/path', '{"model":"x"}', { authorization: `Bearer ${key}` }),
    ],
  ];
  const wrong: string[] = [];
  for (const [what, status, attempt] of tries) {
    const answer = await attempt();
    const text = await answer.text();
    if (answer.status !== status) wrong.push(`${what} is ${answer.status}, not ${status}`);
    else if (!text.includes('"detail"')) wrong.push(`${what} has no detail: ${text.slice(0, 80)}`);
    else if (status === 401 && !answer.headers.has('www-authenticate'))
      wrong.push(`${what} has no challenge`);
  }
  must(wrong.length === 0, wrong.join('; '), 'see docs/decisions/0024: what the gateway answers by itself');
};

/** A request to a model, as whom it is sent, and what its answer has to have. */
interface ModelRequest {
  readonly kind: string;
  readonly path: string;
  readonly body: object;
  readonly has: string;
  readonly headers: (key: string) => Readonly<Record<string, string>>;
}

const asBearer = (key: string) => ({ authorization: `Bearer ${key}` });
const asApiKey = (key: string) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' });

const modelRequests = (model: string): readonly ModelRequest[] => {
  const messages = [{ role: 'user', content: 'Say "hello".' }];
  return [
    {
      kind: 'chat',
      path: '/chat/completions',
      body: { model, messages, max_completion_tokens: 500 },
      has: '"choices"',
      headers: asBearer,
    },
    {
      kind: 'messages',
      path: '/messages',
      body: { model, messages, max_tokens: 500 },
      has: '"stop_reason"',
      headers: asApiKey,
    },
    {
      kind: 'responses',
      path: '/responses',
      body: { model, input: 'Say "hello".', max_output_tokens: 500 },
      has: '"response"',
      headers: asBearer,
    },
  ];
};

const embeddingRequest = (model: string): ModelRequest => ({
  kind: 'embeddings',
  path: '/embeddings',
  body: { model, input: 'hello' },
  has: '"embedding"',
  headers: asBearer,
});

/** Sends a request to a model, and looks whether the answer is of its kind. */
const askModel =
  ({ kind, path, body, has, headers }: ModelRequest, stream: boolean) =>
  async ({ url, key, project }: Target): Promise<void> => {
    const answer = await fetch(`${url}/inference/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-project': project, ...headers(key) },
      body: JSON.stringify({ ...body, ...(stream && { stream }) }),
    });
    // Responses are not translated, and not every model speaks them: then that is what is right.
    if (answer.status === 422 && (await answer.clone().text()).includes('path_not_taken')) return;
    const text = await readText(answer);
    const type = answer.headers.get('content-type') ?? '';
    const advice = 'see docs/inference.md: which upstream takes which requests';
    must(text.includes(has), `the answer to ${kind} has no ${has}: ${text.slice(0, 200)}`, advice);
    must(!stream || type.startsWith('text/event-stream'), `the stream of ${kind} is ${type}`, advice);
  };

/** One request of each kind to the models that the caller names, whole and as a stream. */
export const modelChecks = ({ chat, embedding }: Target['models']): readonly Check[] => [
  ...(chat === undefined ? [] : modelRequests(chat)).flatMap((request) =>
    [false, true].map((stream) => ({
      name: `${chat} answers ${request.kind}${stream ? ' as a stream' : ''}`,
      run: askModel(request, stream),
    })),
  ),
  ...(embedding === undefined
    ? []
    : [{ name: `${embedding} answers embeddings`, run: askModel(embeddingRequest(embedding), false) }]),
];

const remove = async (target: Target): Promise<void> => {
  const { project, run } = target;
  const ids: string[] = [];
  const all = await readText(
    await ask(target, '/calls/stream_query', { body: { project_id: project, columns: ['id'] } }),
  );
  for (const line of all.split('\n').filter(Boolean)) ids.push((JSON.parse(line) as { id: string }).id);
  const $expr = { $eq: [{ $getField: 'feedback_type' }, { $literal: 'verify' }] };
  const records = (await readJson(
    await ask(target, '/feedback/query', { body: { project_id: project, fields: ['id'], query: { $expr } } }),
  )) as { result: { id: string }[] };
  const purged = records.result.map(({ id }) => ({ $eq: [{ $getField: 'id' }, { $literal: id }] }));
  if (purged.length > 0)
    await readText(
      await ask(target, '/feedback/purge', {
        body: { project_id: project, query: { $expr: { $or: purged } } },
      }),
    );
  await readText(await ask(target, '/obj/delete', { body: { project_id: project, object_id: run } }));
  for (let i = 0; i < ids.length; i += 100)
    await readText(
      await ask(target, '/calls/delete', { body: { project_id: project, call_ids: ids.slice(i, i + 100) } }),
    );
  const left = await readText(await ask(target, '/calls/stream_query', { body: { project_id: project } }));
  must(left === '', 'calls are left', 'run it again: they are deleted then');
};

/** The items that every service has, in their order: later ones need what earlier ones stored. */
export const checks: readonly Check[] = [
  { name: 'it is up', run: async ({ url }) => void (await readText(await fetch(`${url}/health`))) },
  { name: 'a new key is good', run: async (target) => void (await readText(await ask(target, '/me'))) },
  { name: 'calls are reported', run: report },
  { name: 'queries find them', run: query },
  { name: 'an answer of over 6 MB streams', run: stream },
  { name: 'an answer is compressed', run: compressed },
  { name: 'a client may leave midway', run: leave },
  { name: 'a large value is stored once, and read', run: bucket },
  { name: 'feedback is stored', run: feedback },
  { name: 'spans come as JSON', run: spansAsJson },
  { name: 'spans come as protobuf, plain and compressed', run: spansAsProtobuf },
  { name: 'the page opens', run: page },
  { name: 'each kind of refusal has its status', run: refusals },
];

/** What has to run at the end, whatever was found. */
export const cleanup: Check = { name: 'all that was made is deleted', run: remove };
