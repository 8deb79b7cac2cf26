import type { MiddlewareObj } from '@middy/core';
import type { Context } from 'aws-lambda';
import { inference as description, type InferenceBody } from '../../../api/inference.ts';
import { recordingHeader } from '../../../api/shared/headers.ts';
import {
  askForUsage,
  endpoints,
  type ForwardedAnswer,
  forward,
  isInferencePath,
  neverReached,
  openAiError,
  Recording,
  type Spending,
} from '../../../core/doors/inference/index.ts';
import { SpendingLimitReached } from '../../../core/records/spending.ts';
import { allows, type Caller, onlyProject } from '../../../foundations/auth/index.ts';
import { requestBudget } from '../../../foundations/storage/index.ts';
import {
  forbidden,
  hasExactNumber,
  type ProjectId,
  parseJson,
  parseProjectId,
  projectIdRule,
  ServiceError,
} from '../../../foundations/wire/index.ts';
import { everyAnswer } from '../../shared/http/answer.ts';
import { headerOf, headersOf } from '../../shared/http/headers.ts';
import { type RelayEvent, relayEndpoint } from '../../shared/http/relay.ts';
import {
  answerErrors,
  bodyText,
  logRequest,
  readCaller,
  readRequest,
  type ServiceEvent,
} from '../../shared/http/request.ts';
import { conclude, countCaller, holdCost, recordMs, requireKeepable } from '../../shared/inference/asking.ts';
import { inference } from '../../shared/inference/upstreams.ts';

type Head = Pick<ServiceEvent<unknown>, 'headers' | 'multiValueHeaders' | 'pathParameters'>;

/**
 * The path of a request below `/inference/v1`.
 *
 * @throws ServiceError 404 if it is not one that is passed on
 */
const pathOf = ({ pathParameters }: Head) => {
  const path = `/${pathParameters?.path ?? ''}`;
  if (isInferencePath(path)) return path;
  const msg = `there is no such path below /inference/v1; the paths are ${Object.keys(endpoints).join(', ')}`;
  throw new ServiceError(404, [{ loc: ['path'], msg, type: 'not_found' }]);
};

const loc = ['header', recordingHeader];

/**
 * The project to record a request in, from its `OpenAI-Project` header.
 *
 * @returns undefined without the header
 * @throws ServiceError 422 if the header is no project id, or comes more than once: nothing says
 * which of them would count
 */
const projectOf = (event: Head): ProjectId | undefined => {
  const text = headerOf(event, recordingHeader);
  if (text === undefined) return undefined;
  const values = Object.entries(event.multiValueHeaders ?? {}).filter(
    ([name]) => name.toLowerCase() === recordingHeader,
  );
  if (values.flatMap(([, each]) => each ?? []).length > 1)
    throw new ServiceError(422, [{ loc, msg: 'this header should be sent once', type: 'value_error' }]);
  const project = parseProjectId(text);
  if (project !== undefined) return project;
  throw new ServiceError(422, [
    { loc, msg: `${projectIdRule}; without the header nothing is recorded`, type: 'value_error' },
  ]);
};

/**
 * Refuses a caller who may not make the request. Without a project the key needs `inference` on
 * any; with one it needs `inference` and `write` on that.
 *
 * @throws ServiceError 403
 */
const requireInference = ({ grants }: Pick<Caller, 'grants'>, project: ProjectId | undefined): void => {
  if (project === undefined) {
    if (grants.some(({ role }) => role === 'inference' || role === 'admin')) return;
    throw forbidden(['header', 'authorization'], 'this key may not use inference');
  }
  const missing = (['inference', 'write'] as const).find((role) => !allows(grants, project, role));
  if (missing === undefined) return;
  const may = missing === 'write' ? 'write, so not record in,' : 'use inference in';
  throw forbidden(loc, `this key may not ${may} the project ${project}`);
};

/** Checks path, project and grants before the body is read. */
const authorizeInference = (): MiddlewareObj<ServiceEvent<unknown>> => ({
  before: ({ event }) => {
    pathOf(event);
    const project = projectOf(event);
    if (project !== undefined) event.log.names([project]);
    requireInference(event.service.caller, project);
  },
});

interface Event extends RelayEvent<InferenceBody> {
  /** Whether the request never reached its upstream. */
  isUnsent?: boolean;
}

/**
 * The body with its numbers as they were written. The schema has made doubles of those it knows.
 *
 * @throws ServiceError 422 if it cannot be written again as it is
 */
const receivedBody = (event: Event): InferenceBody => {
  const text = bodyText(event);
  const body = hasExactNumber(text) ? (parseJson(text) as InferenceBody) : event.service.body;
  requireKeepable(body, ['body'], 0);
  return body;
};

/**
 * Follows the request until its answer has gone out. Then it puts what the answer has cost in the place
 * of what was held, and stores a call if the request names a project.
 *
 * @param body as it was received
 */
const follow = (
  event: Event,
  body: InferenceBody,
  spending: Spending | undefined,
  context: Context,
): Recording | undefined => {
  const { id: requestId, caller, budget: spent } = event.service;
  const projectId = projectOf(event);
  if (projectId === undefined && !spending) return undefined;
  const recording = new Recording({ path: pathOf(event), body, requestId });
  const release = event.log.hold();
  event.afterwards = async () => {
    // Its time begins now, but the request's meter counts what it takes.
    const { deadline } = requestBudget(context.getRemainingTimeInMillis() - 1000);
    const budget = { deadline, meter: spent.meter };
    const { isUnsent = false } = event;
    const answered = { recording, spending, isUnsent, project: projectId, user: caller.user };
    const { problems } = await conclude(answered, budget);
    for (const problem of problems) event.log.lacksRecord(problem);
    release();
  };
  return recording;
};

/** Tells the log what became of an answer that is passed on. */
const followAnswer = ({ log, gone }: Event, answer: ForwardedAnswer): void => {
  const { status, upstream, body } = answer;
  log.describes(() => ({ status, upstream, rows: 1, bytes: answer.bytes() }));
  body.once('close', () => {
    if (body.readableEnded || answer.isComplete()) log.ends('answered');
    else if (gone.aborted) log.ends('gone');
    else log.ends(answer.isTimedOut() ? 'timed_out' : 'broken', body.errored ?? undefined);
  });
};

/**
 * The upstream's answer. If there is a rate limit, the request is counted first; if there are spending
 * limits, what it may cost is held.
 */
const answerOf = async (event: Event, context: Context): Promise<ForwardedAnswer> => {
  const { service, gone } = event;
  const { caller } = service;
  const path = pathOf(event);
  const budget = { ...service.budget, signal: gone };
  await countCaller(caller, budget);
  const received = receivedBody(event);
  const asking = askForUsage(path, received);
  // A key for one project spends from its limits, whatever the request says.
  const project = projectOf(event) ?? onlyProject(caller.grants, 'inference');
  const spending = await holdCost({ path, body: asking.body, caller, project }, budget);
  const answer = await forward(inference, {
    path,
    body: service.body,
    received: spending ? asking.body : received,
    headers: headersOf(event),
    maxMs: context.getRemainingTimeInMillis() - recordMs,
    gone,
    recording: follow(event, received, spending, context),
    withholdsUsage: spending && asking.withholdsUsage,
  }).catch((error: unknown) => {
    event.isUnsent = neverReached(error);
    throw error;
  });
  const { warning } = spending ?? {};
  return warning === undefined
    ? answer
    : { ...answer, headers: { ...answer.headers, 'x-spending-warning': warning } };
};

/** An error as OpenAI's clients read it. One of a limit says what was spent of it. */
const openAiErrorOf = (error: ServiceError) => {
  const { message, type, code } = openAiError(error.status, error.detail);
  if (!(error instanceof SpendingLimitReached)) return { message, type, code };
  const { limitUsd, spentUsd, resetsAt } = error;
  const spent = { limit_usd: limitUsd, spent_usd: spentUsd, resets_at: resetsAt };
  return { message, type: 'insufficient_quota', code, ...spent };
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
    return { statusCode, headers: { ...headers, ...everyAnswer(event.service.id) }, body };
  },
  (described) => [
    logRequest(described.path),
    answerErrors((error) => ({ error: openAiErrorOf(error) })),
    readCaller(),
    authorizeInference(),
    readRequest(described),
  ],
);
