import type { Context } from 'aws-lambda';
import { callBatchBody, writeCalls } from '../../core/calls/index.ts';
import { countRequest, type InferenceBody, passOn, Recording } from '../../core/inference/index.ts';
import { effort } from '../../core/storage/index.ts';
import { parseValue } from '../../core/wire/schema.ts';
import { bodyText, readBody } from '../http/body.ts';
import { readCaller } from '../http/caller.ts';
import { logRequest } from '../http/endpoint.ts';
import { answerErrors } from '../http/errors.ts';
import { headersOf } from '../http/event.ts';
import { log } from '../http/log.ts';
import { type RelayEvent, relayEndpoint } from '../http/relay.ts';
import { settings } from '../http/settings.ts';
import { inference as takes } from '../requests.ts';
import { authorizeInference, pathOf, projectOf } from './authorize.ts';
import { inference, rateLimit } from './settings.ts';

type Event = RelayEvent<InferenceBody>;

const request = takes();
const { path: route } = request;

/** Kept back of the function's time, for the record of an answer that took all the rest. */
const recordMs = 15_000;
/** A count that takes longer costs more than it protects from. */
const countMs = 2000;

const callBatch = callBatchBody(settings.names);

/** Follows the request, if it names a project, to store it as a call once its answer has gone out. */
const follow = (event: Event, context: Context): Recording | undefined => {
  const { id: requestId, caller, body } = event.service;
  const projectId = projectOf(event);
  if (projectId === undefined) return undefined;
  const recording = new Recording({ projectId, path: pathOf(event), body, requestId });
  event.afterwards = async () => {
    try {
      const { batch } = parseValue(callBatch, recording.batch());
      await writeCalls(settings.calls, batch, caller.user, effort(context.getRemainingTimeInMillis() - 1000));
    } catch (error) {
      log('error', { requestId, route, message: 'the request was not recorded', error });
    }
  };
  return recording;
};

/** `POST /inference/v1{path}`: passes a request on to the upstream of its model, and its answer back as it comes. */
export const handler = relayEndpoint<InferenceBody>(
  [answerErrors(route, settings.names.service), readCaller(), authorizeInference(), readBody(request.body)],
  async (event, context) => {
    const begun = performance.now();
    const { service, gone } = event;
    if (rateLimit) await countRequest(rateLimit, service.caller.keyId, effort(countMs, gone));
    const answer = await passOn(inference, {
      id: service.id,
      path: pathOf(event),
      text: bodyText(event),
      body: service.body,
      headers: headersOf(event),
      mostMs: context.getRemainingTimeInMillis() - recordMs,
      gone,
      recording: follow(event, context),
    });
    const { status, upstream, body } = answer;
    body.once('close', () => {
      const ms = Math.round(performance.now() - begun);
      logRequest(route, service, { status, upstream, complete: body.readableEnded, ms });
    });
    return answer;
  },
);
