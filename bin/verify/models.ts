import { ask, eventually, must, NotTried, Red, readJson, readText, type Target, theLog } from './check.ts';

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

const messages = [{ role: 'user', content: 'Say "hello".' }];

const chat = (model: string): ModelRequest => ({
  kind: 'chat',
  path: '/chat/completions',
  body: { model, messages, max_completion_tokens: 500 },
  has: '"choices"',
  headers: asBearer,
});

const message = (model: string): ModelRequest => ({
  kind: 'messages',
  path: '/messages',
  body: { model, messages, max_tokens: 500 },
  has: '"stop_reason"',
  headers: asApiKey,
});

const response = (model: string): ModelRequest => ({
  kind: 'responses',
  path: '/responses',
  body: { model, input: 'Say "hello".', max_output_tokens: 500 },
  has: '"response"',
  headers: asBearer,
});

const embedding = (model: string): ModelRequest => ({
  kind: 'embeddings',
  path: '/embeddings',
  body: { model, input: 'hello' },
  has: '"embedding"',
  headers: asBearer,
});

/** Sends a request to a model, and looks whether the answer is of its kind. */
const askModel = async (
  { kind, path, body, has, headers }: ModelRequest,
  stream: boolean,
  { url, key, project }: Target,
): Promise<void> => {
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

/** Sends a request of a kind to each model that the caller names, whole and as a stream. */
const askEach =
  (kind: (model: string) => ModelRequest) =>
  async (target: Target): Promise<void> => {
    if (target.models.length === 0)
      throw new NotTried('name a model of each upstream: --model NAME. Its requests cost money');
    for (const model of target.models)
      for (const stream of [false, true]) await askModel(kind(model), stream, target);
  };

export const chats = askEach(chat);
export const messagesOfModels = askEach(message);
export const responses = askEach(response);

export const embeddings = async (target: Target): Promise<void> => {
  if (target.embeddings.length === 0)
    throw new NotTried('name a model that embeds: --embedding NAME. Its requests cost money');
  for (const model of target.embeddings) await askModel(embedding(model), false, target);
};

/** Requests to models leave calls in the project that they name. */
export const recordsModels = async (target: Target): Promise<void> => {
  const [model] = target.models;
  if (model === undefined) throw new NotTried('name a model: --model NAME. Its requests cost money');
  const before = await countModelCalls(target);
  await askModel(chat(model), false, target);
  await eventually(
    target,
    async () => {
      const count = await countModelCalls(target);
      return count > before ? undefined : new Red('the request to the model left no call', theLog);
    },
    20_000,
  );
};

const countModelCalls = async (target: Target): Promise<number> => {
  const filter = { op_names: ['openai.chat.completions.create'] };
  const body = { project_id: target.project, filter };
  const { count } = (await readJson(await ask(target, '/calls/query_stats', { body }))) as { count: number };
  return count;
};
