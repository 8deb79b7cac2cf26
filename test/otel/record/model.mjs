import { createServer } from 'node:http';

const texts = (content) =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('');

/** What the model says: it calls the first tool once, then reports, and echoes without tools. */
const answer = ({ messages, tools }) => {
  const last = messages.at(-1);
  const tool = tools?.[0]?.function.name;
  if (last.role === 'tool') return { content: `Here is what I found: ${texts(last.content)}` };
  if (!tool) return { content: `You said: ${texts(last.content)}` };
  const call = {
    id: `call_${messages.length}`,
    type: 'function',
    function: { name: tool, arguments: '{"city":"Paris"}' },
  };
  return { content: null, tool_calls: [call] };
};

const usageOf = (messages, { content, tool_calls }) => {
  const prompt_tokens = 10 * messages.length + 5;
  const completion_tokens = tool_calls ? 17 : content.split(/\s+/).length + 2;
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: messages.length > 3 ? 16 : 0 },
  };
};

const base = { id: 'chatcmpl-scripted', created: 1767225600, model: 'gpt-4o-mini-2024-07-18' };

const complete = (body) => {
  const message = { role: 'assistant', ...answer(body) };
  const finish_reason = message.tool_calls ? 'tool_calls' : 'stop';
  const usage = usageOf(body.messages, message);
  return { ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage };
};

/** The same answer in pieces: a word each, then the usage. */
const stream = (body) => {
  const { choices, usage } = complete(body);
  const [{ message, finish_reason }] = choices;
  const words = message.content?.match(/\S+\s*/g) ?? [];
  const deltas = [{ role: 'assistant', content: '' }, ...words.map((content) => ({ content }))];
  const chunk = (choice, rest = {}) => ({
    ...base,
    object: 'chat.completion.chunk',
    choices: choice,
    ...rest,
  });
  return [
    ...deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }])),
    chunk([{ index: 0, delta: {}, finish_reason }]),
    chunk([], { usage }),
  ];
};

const embed = ({ input, model }) => {
  const list = Array.isArray(input) ? input : [input];
  const tokens = 6 * list.length;
  const data = list.map((_, index) => ({ object: 'embedding', index, embedding: [0.25, -0.5, index] }));
  return { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
};

const read = async (request) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
};

const refusal = {
  error: {
    message: 'Rate limit reached for gpt-4o-mini',
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
  },
};

/**
 * A scripted stand-in for OpenAI's API. It answers the same to the same request, and counts what it
 * answered in `truth`.
 */
export const scriptedModel = () => {
  const truth = {
    model_calls: 0,
    failed_model_calls: 0,
    embedding_calls: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    embedding_tokens: 0,
  };
  const server = createServer(async (request, response) => {
    const body = await read(request);
    const send = (status, value) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    if (request.url.endsWith('/embeddings')) {
      const made = embed(body);
      truth.embedding_calls += 1;
      truth.embedding_tokens += made.usage.prompt_tokens;
      return send(200, made);
    }
    truth.model_calls += 1;
    if (texts(body.messages.at(-1).content).includes('outage')) {
      truth.failed_model_calls += 1;
      return send(429, refusal);
    }
    const { usage } = complete(body);
    truth.prompt_tokens += usage.prompt_tokens;
    truth.completion_tokens += usage.completion_tokens;
    if (!body.stream) return send(200, complete(body));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of stream(body)) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    response.end('data: [DONE]\n\n');
  });
  return { server, truth };
};
