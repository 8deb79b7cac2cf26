import { Readable } from 'node:stream';
import type { MiddlewareObj } from '@middy/core';
import type { Context } from 'aws-lambda';
import { inference as description, type InferenceBody } from '../../../api/inference.ts';
import { cacheHeader, projectHeader, recordingHeader } from '../../../api/shared/headers.ts';
import {
  type Attribution,
  anthropicError,
  askForUsage,
  asksModel,
  attribute,
  candidatesFor,
  endpoints,
  type ForwardedAnswer,
  forward,
  type InferencePath,
  isInferencePath,
  isMessagesPath,
  neverReached,
  openAiError,
  parseCacheTtl,
  Recording,
  replay,
  type Spending,
} from '../../../core/doors/inference/index.ts';
import { SpendingLimitReached } from '../../../core/records/spending.ts';
import { allows, type Caller, onlyProject } from '../../../foundations/auth/index.ts';
import { requestBudget } from '../../../foundations/storage/index.ts';
import {
  forbidden,
  hasExactNumber,
  type JsonObject,
  type ProjectId,
  parseJson,
  parseProjectId,
  projectIdRule,
  ServiceError,
} from '../../../foundations/wire/index.ts';
import { everyAnswer } from '../../common/http/answer.ts';
import { getHeader, getHeaders } from '../../common/http/headers.ts';
import { type RelayEvent, relayEndpoint } from '../../common/http/relay.ts';
import {
  answerErrors,
  bodyText,
  logRequest,
  readCaller,
  readRequest,
  type ServiceEvent,
} from '../../common/http/request.ts';
import {
  type Caching,
  conclude,
  countCaller,
  holdCost,
  lookUp,
  recordMs,
  requireKeepable,
} from '../../common/inference/asking.ts';
import { requireAnyInference } from '../../common/inference/may-infer.ts';
import { inference } from '../../common/inference/upstreams.ts';

type Head = Pick<ServiceEvent<unknown>, 'headers' | 'multiValueHeaders' | 'pathParameters'>;

/**
 * The path of a request below `/inference/v1`.
 *
 * @throws ServiceError 404 if it is not one that is passed on
 */
const getPath = ({ pathParameters }: Head) => {
  const path = `/${pathParameters?.path ?? ''}`;
  if (isInferencePath(path)) return path;
  const msg = `there is no such path below /inference/v1; the paths are ${Object.keys(endpoints).join(', ')}`;
  throw new ServiceError(404, [{ loc: ['path'], msg, type: 'not_found' }]);
};

/** The headers that name the project to record a request in. */
const projectHeaders = [recordingHeader, projectHeader];

/** A refusal of such a header. */
const badHeader = (name: string, msg: string): ServiceError =>
  new ServiceError(422, [{ loc: ['header', name], msg, type: 'value_error' }]);

interface NamedProject {
  readonly project: ProjectId;
  /** The header that names it. */
  readonly header: string;
}

/**
 * The project to record a request in, from its `OpenAI-Project` or `x-project` header.
 *
 * @returns undefined without either
 * @throws ServiceError 422 if the header is no project id, or comes more than once: nothing says
 * which of them would count
 */
const namedProject = (event: Head): NamedProject | undefined => {
  const sent = projectHeaders.flatMap((name) => {
    const text = getHeader(event, name);
    return text === undefined ? [] : [{ name, text }];
  });
  const all = Object.entries(event.multiValueHeaders ?? {});
  for (const name of projectHeaders) {
    const values = all.flatMap(([sentAs, each]) => (sentAs.toLowerCase() === name ? (each ?? []) : []));
    if (values.length > 1) throw badHeader(name, 'this header should be sent once');
  }
  const [first, second] = sent;
  if (first === undefined) return undefined;
  if (second && second.text !== first.text)
    throw badHeader(second.name, `this header should be absent, or the same as ${first.name}`);
  const project = parseProjectId(first.text);
  if (project !== undefined) return { project, header: first.name };
  throw badHeader(first.name, `${projectIdRule}; without the header nothing is recorded`);
};

/**
 * Refuses a caller who may not make the request. Without a project the key needs `inference` on
 * any; with one it needs `inference` and `write` on that.
 *
 * @throws ServiceError 403
 */
const requireInference = ({ grants }: Pick<Caller, 'grants'>, named: NamedProject | undefined): void => {
  if (named === undefined) {
    requireAnyInference({ grants });
    return;
  }
  const { project, header } = named;
  const missing = (['inference', 'write'] as const).find((role) => !allows(grants, project, role));
  if (missing === undefined) return;
  const may = missing === 'write' ? 'write, so not record in,' : 'use inference in';
  throw forbidden(['header', header], `this key may not ${may} the project ${project}`);
};

/** Checks path, project and grants before the body is read. */
const authorizeInference = (): MiddlewareObj<ServiceEvent<unknown>> => ({
  before: ({ event }) => {
    getPath(event);
    const named = namedProject(event);
    if (named) event.log.names([named.project]);
    requireInference(event.service.caller, named);
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

/** What is known of a request before anybody is asked. */
interface Prepared {
  readonly path: InferencePath;
  /** As it was received. */
  readonly body: InferenceBody;
  readonly attribution: Attribution;
  /** The project that a call is stored in; undefined for none. */
  readonly recordedIn: ProjectId | undefined;
  /** The project whose limits hold. A key for one project spends from them, whatever the request says. */
  readonly project: ProjectId | undefined;
  readonly caching: Caching | undefined;
}

/** Reads all of a request. */
const prepare = (event: Event, cacheTtl: number | undefined): Prepared => {
  const { caller } = event.service;
  const headers = getHeaders(event);
  const path = getPath(event);
  const body = receivedBody(event);
  const named = namedProject(event)?.project;
  const project = named ?? onlyProject(caller.grants, 'inference');
  const owner = project === undefined ? { keyId: caller.keyId } : { project };
  const [chosen] = candidatesFor(inference.upstreams, body.model);
  return {
    path,
    body,
    attribution: attribute(body, headers),
    recordedIn: asksModel(path) ? named : undefined,
    project,
    caching:
      cacheTtl === undefined || !chosen
        ? undefined
        : {
            request: { path, body, headers, owner, upstream: chosen.upstream.name, model: chosen.model },
            ttl: cacheTtl,
          },
  };
};

/** Makes what records a request. */
const record = (event: Event, { path, body, attribution }: Prepared): Recording => {
  const { threadId, userId, agent, source, prompt, parent } = attribution;
  const attributes = {
    ...(source !== undefined && { source }),
    ...(agent && { agent }),
    ...(prompt && { prompt }),
    ...(userId !== undefined && { user: { id: userId } }),
  };
  return new Recording({
    path,
    body,
    requestId: event.service.id,
    call: { attributes, threadId, ...(parent && { place: parent }) },
  });
};

/**
 * Follows the request until its answer has gone out. Then it puts what the answer has cost in the place
 * of what was held, keeps the answer if it may come again, and stores a call if the request names a project.
 */
const follow = (
  event: Event,
  prepared: Prepared,
  spending: Spending | undefined,
  context: Context,
): Recording | undefined => {
  const { caller, budget: spent } = event.service;
  const { recordedIn, caching } = prepared;
  if (recordedIn === undefined && !spending && !caching) return undefined;
  const recording = record(event, prepared);
  if (caching) recording.looked('miss');
  const release = event.log.hold();
  event.afterwards = async () => {
    // Its time begins now, but the request's meter counts what it takes.
    const { deadline } = requestBudget(context.getRemainingTimeInMillis() - 1000);
    const budget = { deadline, meter: spent.meter };
    const { isUnsent = false } = event;
    const answered = { recording, spending, isUnsent, project: recordedIn, user: caller.user, caching };
    const { problems } = await conclude(answered, budget);
    for (const problem of problems) event.log.lacksRecord(problem);
    release();
  };
  return recording;
};

/** Tells the log what became of an answer that is passed on. */
const followAnswer = ({ log, gone }: Event, answer: ForwardedAnswer): void => {
  const { status, upstream, attempts, body } = answer;
  log.describes(() => ({ status, upstream, attempts, rows: 1, bytes: answer.bytes() }));
  body.once('close', () => {
    if (body.readableEnded || answer.isComplete()) log.ends('answered');
    else if (gone.aborted) log.ends('gone');
    else log.ends(answer.isTimedOut() ? 'timed_out' : 'broken', body.errored ?? undefined);
  });
};

/** An answer of the cache, as it was asked for. */
const cachedAnswer = (
  event: Event,
  prepared: Prepared,
  answer: JsonObject,
  context: Context,
): ForwardedAnswer => {
  const { path, body } = prepared;
  const json = Buffer.from(JSON.stringify(answer));
  const withUsage = !askForUsage(path, body).withholdsUsage;
  const events = body.stream === true ? replay(path, answer, withUsage) : undefined;
  const sent = events === undefined ? json : Buffer.from(events);
  const recording = follow(event, { ...prepared, caching: undefined }, undefined, context);
  recording?.looked('hit');
  recording?.answered(200, 'application/json', '', undefined);
  recording?.passed(json);
  return {
    status: 200,
    headers: {
      'content-type': events === undefined ? 'application/json' : 'text/event-stream; charset=utf-8',
      'x-cache': 'hit',
    },
    body: Readable.from([sent]),
    bytes: () => sent.length,
    upstream: 'cache',
    attempts: 0,
    isComplete: () => true,
    isTimedOut: () => false,
  };
};

/**
 * The upstream's answer, or that of the cache. If there is a rate limit, the request is counted first; if
 * there are spending limits, what it may cost at an upstream is held.
 */
const answerRequest = async (event: Event, context: Context): Promise<ForwardedAnswer> => {
  const { service, gone } = event;
  const { caller } = service;
  const headers = getHeaders(event);
  const cacheTtl = asksModel(getPath(event)) ? parseCacheTtl(headers[cacheHeader]) : undefined;
  const budget = { ...service.budget, signal: gone };
  await countCaller(caller, budget);
  const prepared = prepare(event, cacheTtl);
  const { path, body: received, project, caching } = prepared;
  const cached = caching && (await lookUp(caching, budget, (error) => event.log.lacksRecord(error)));
  if (cached) return cachedAnswer(event, prepared, cached, context);
  const asking = askForUsage(path, received);
  const spending = asksModel(path)
    ? await holdCost({ path, body: asking.body, caller, project }, budget)
    : undefined;
  const asksForUsage = spending !== undefined || caching !== undefined;
  const answer = await forward(inference, {
    path,
    body: service.body,
    received: asksForUsage ? asking.body : received,
    headers,
    maxMs: context.getRemainingTimeInMillis() - recordMs,
    gone,
    recording: follow(event, prepared, spending, context),
    withholdsUsage: asksForUsage && asking.withholdsUsage,
  }).catch((error: unknown) => {
    event.isUnsent = neverReached(error);
    throw error;
  });
  const { warning } = spending ?? {};
  return {
    ...answer,
    headers: {
      ...answer.headers,
      ...(caching && { 'x-cache': 'miss' }),
      ...(warning !== undefined && { 'x-spending-warning': warning }),
    },
  };
};

/** What an error of a limit says was spent of it. */
const describeSpending = (error: ServiceError): object => {
  if (!(error instanceof SpendingLimitReached)) return {};
  const { limitUsd, spentUsd, resetsAt } = error;
  return { limit_usd: limitUsd, spent_usd: spentUsd, resets_at: resetsAt };
};

/** What stands beside `detail`, for clients of the API that was asked. */
const clientError = (error: ServiceError, { pathParameters }: Head): object => {
  const { status, detail } = error;
  if (isMessagesPath(`/${pathParameters?.path ?? ''}`)) {
    const answer = anthropicError(status, detail);
    return { ...answer, error: { ...answer.error, ...describeSpending(error) } };
  }
  const { message, type, code } = openAiError(status, detail);
  const isSpent = error instanceof SpendingLimitReached;
  return {
    error: { message, type: isSpent ? 'insufficient_quota' : type, code, ...describeSpending(error) },
  };
};

/**
 * `POST /inference/v1{path}`: passes a request on to the upstream of its model, and the answer back
 * as it comes.
 */
export const handler = relayEndpoint(
  description,
  async (event, context) => {
    const answer = await answerRequest(event, context).catch((error: unknown) => {
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
    answerErrors(clientError),
    readCaller(),
    authorizeInference(),
    readRequest(described),
  ],
);
