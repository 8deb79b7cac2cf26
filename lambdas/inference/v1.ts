import type { Context } from 'aws-lambda';
import { inference as description, type InferenceBody } from '../../api/inference.ts';
import { countRequest, type ForwardedAnswer, forward, Recording } from '../../core/doors/inference/index.ts';
import { requestBudget } from '../../core/foundations/storage/index.ts';
import {
  hasExactNumber,
  invalid,
  maxDepth,
  parseJson,
  problemOf,
} from '../../core/foundations/wire/index.ts';
import { writeCalls } from '../../core/records/calls/index.ts';
import { answerErrors, logRequest, noteProject, readCaller } from '../http/middlewares.ts';
import { type RelayEvent, relayEndpoint } from '../http/relay.ts';
import { bodyText, headersOf, readRequest } from '../http/request.ts';
import { settings } from '../http/settings.ts';
import { authorizeInference, pathOf, projectOf } from './authorize.ts';
import { inference, rateLimit } from './settings.ts';

type Event = RelayEvent<InferenceBody>;

/** The part of the function's time that is kept back to record a long answer, in milliseconds. */
const recordMs = 15_000;
/** A count that takes longer costs more than it protects from, in milliseconds. */
const countMs = 2000;

/**
 * The body with its numbers as they were written. The schema has made doubles of those it knows.
 */
const receivedBody = (event: Event): InferenceBody => {
  const text = bodyText(event);
  return hasExactNumber(text) ? (parseJson(text) as InferenceBody) : event.service.body;
};

/**
 * Follows the request, if it names a project, to store it as a call once its answer has gone out.
 *
 * @throws ServiceError 422 if it cannot be stored as it is
 */
const follow = (event: Event, context: Context): Recording | undefined => {
  const { id: requestId, caller, budget: spent } = event.service;
  const projectId = projectOf(event);
  if (projectId === undefined) return undefined;
  const body = receivedBody(event);
  const problem = problemOf(body, maxDepth - 1);
  if (problem) {
    const msg = `holds what cannot be recorded, ${problem}; without OpenAI-Project it is passed on as it is`;
    throw invalid({ loc: ['body'], msg, type: 'value_error' });
  }
  const recording = new Recording({ projectId, path: pathOf(event), body, requestId });
  const release = event.log.hold();
  event.afterwards = async () => {
    noteProject(projectId);
    try {
      // Its time begins now, but the request's meter counts what it takes.
      const { deadline } = requestBudget(context.getRemainingTimeInMillis() - 1000);
      const recordBudget = { deadline, meter: spent.meter };
      await writeCalls(settings.calls, recording.reports(), caller.user, recordBudget, { idsAreNew: true });
    } catch (error) {
      event.log.lacksRecord(error);
    }
    release();
  };
  return recording;
};

/** Tells the log what became of an answer that is passed on. */
const followAnswer = ({ log, gone }: Event, answer: ForwardedAnswer): void => {
  const { status, upstream, body } = answer;
  log.describes(() => ({ status, upstream, rows: 1, bytes: answer.bytes() }));
  body.once('close', () => {
    if (body.readableEnded) log.ends('answered');
    else if (gone.aborted) log.ends('gone');
    else log.ends(answer.isTimedOut() ? 'timed_out' : 'broken', body.errored ?? undefined);
  });
};

/** The upstream's answer. If there is a rate limit, the request is counted first. */
const answerOf = async (event: Event, context: Context): Promise<ForwardedAnswer> => {
  const { service, gone } = event;
  if (rateLimit) {
    const { deadline } = requestBudget(countMs);
    await countRequest(rateLimit, service.caller.keyId, { ...service.budget, deadline, signal: gone });
  }
  return forward(inference, {
    id: service.id,
    path: pathOf(event),
    text: bodyText(event),
    body: service.body,
    headers: headersOf(event),
    maxMs: context.getRemainingTimeInMillis() - recordMs,
    gone,
    recording: follow(event, context),
  });
};

/**
 * `POST /inference/v1{path}`: passes a request on to the upstream of its model, and the answer back
 * as it comes.
 */
export const handler = relayEndpoint(
  description,
  async (event, context) => {
    const answer = await answerOf(event, context).catch((error: unknown) => {
      // Nobody waits for the error that this ends in.
      if (event.gone.aborted) event.log.ends('gone');
      throw error;
    });
    followAnswer(event, answer);
    const { status: statusCode, headers, body } = answer;
    return { statusCode, headers, body };
  },
  (described) => [
    logRequest(described.path),
    answerErrors(),
    readCaller(),
    authorizeInference(),
    readRequest(described),
  ],
);
