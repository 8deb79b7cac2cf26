import { Readable } from 'node:stream';
import { inferenceModels } from '../../../api/models.ts';
import {
  anthropicError,
  getModel,
  type ListedModel,
  listModels,
  openAiError,
  toAnthropic,
  toOpenAi,
  unknownModel,
} from '../../../core/doors/inference/index.ts';
import { loadModelFacts } from '../../../core/records/costs/index.ts';
import { everyAnswer, jsonText } from '../../common/http/answer.ts';
import { rawEndpoint, type StreamEvent } from '../../common/http/endpoint.ts';
import { getHeader } from '../../common/http/headers.ts';
import { answerErrors, logRequest, readCaller } from '../../common/http/request.ts';
import { mayInfer } from '../../common/inference/may-infer.ts';
import { inference } from '../../common/inference/upstreams.ts';

const { upstreams } = inference;

/** The name of the model in the path, in which slashes may be encoded; undefined for the list. */
const idIn = ({ pathParameters }: StreamEvent<unknown>): string | undefined => {
  const id = pathParameters?.id;
  try {
    return id && decodeURIComponent(id);
  } catch {
    return id;
  }
};

/** Whether it is a client of Anthropic's API that asks. */
const asksAnthropic = (event: Parameters<typeof getHeader>[0]): boolean =>
  getHeader(event, 'anthropic-version') !== undefined;

const valueFor = async (event: StreamEvent<unknown>) => {
  const facts = await loadModelFacts();
  const isAnthropic = asksAnthropic(event);
  const toWire: (model: ListedModel) => { readonly id: string } = isAnthropic ? toAnthropic : toOpenAi;
  const id = idIn(event);
  if (id !== undefined) {
    const model = getModel(upstreams, facts, id);
    if (!model) throw unknownModel(id, ['path', 'id']);
    return { rows: 1, value: toWire(model) };
  }
  const data = listModels(upstreams, facts).map((model) => toWire(model));
  const page = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: false };
  return { rows: data.length, value: isAnthropic ? { data, ...page } : { object: 'list', data } };
};

/** `GET /inference/v1/models` and `/models/{id}`: the models that requests may name. */
export const handler = rawEndpoint(
  inferenceModels,
  async (event) => {
    const { rows, value } = await valueFor(event);
    const text = jsonText(value);
    event.log.describes(() => ({ status: 200, rows, bytes: Buffer.byteLength(text) }));
    event.log.ends('answered');
    const headers = { ...everyAnswer(event.service.id), 'content-type': 'application/json' };
    return { statusCode: 200, headers, body: Readable.from([text], { objectMode: false }) };
  },
  ({ path }) => [
    logRequest(path),
    answerErrors(({ status, detail }, event) =>
      asksAnthropic(event) ? anthropicError(status, detail) : { error: openAiError(status, detail) },
    ),
    readCaller(),
    mayInfer(),
  ],
);
