import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { Endpoint, NamedProject } from '../../api/endpoint.ts';
import { allows, fromContext, hasExpired, type Role } from '../../foundations/auth/index.ts';
import { challengeOf, keyRequired } from '../../foundations/wire/errors.ts';
import { type ErrorBody, forbidden, ServiceError, unavailable } from '../../foundations/wire/index.ts';
import { RequestLog } from '../log/request-log.ts';
import { jsonText } from './answer.ts';
import { policy } from './dialect.ts';
import { budgetOf, type ServiceEvent } from './request.ts';

/**
 * Begins the request's log line, and ends it if the request fails before its answer has begun. It
 * has to be the first middleware.
 */
export const logRequest = (route: string): MiddlewareObj<ServiceEvent<unknown>> => ({
  before: ({ event, context }) => {
    const { requestId } = event.requestContext;
    event.log = new RequestLog({ message: 'request', requestId, route }, context);
  },
  onError: ({ event, error }) => event.log.endsIn(error),
});

/** The answer to an error on the service's side. Its cause is in the log alone. */
export const internal = new ServiceError(500, [
  {
    loc: ['service'],
    msg: "something went wrong on the service's side; its log has it under this request's id",
    type: 'internal_error',
  },
]);

/** What stands beside `detail` in the answer to an error. */
type Beside = (error: ServiceError) => object;

/** The answer to a request that failed: the one shape of all errors, with the request's id. */
const errorAnswer = (error: ServiceError, requestId: string, beside: Beside): APIGatewayProxyResult => {
  const body: ErrorBody = { detail: error.detail, ...beside(error) };
  return {
    statusCode: error.status,
    headers: {
      'content-type': 'application/json',
      'x-request-id': requestId,
      ...(error.retryAfterSeconds !== undefined && { 'retry-after': String(error.retryAfterSeconds) }),
      ...(error.status === 401 && { 'www-authenticate': challengeOf(policy.service) }),
    },
    body: jsonText(body),
  };
};

/**
 * Ends a request a moment before Lambda would end its function. The same request may be sent again.
 *
 * @throws ServiceError 503
 */
export const timeoutEarlyResponse = (): never => {
  throw unavailable('the time of the function is up');
};

/**
 * Turns whatever is thrown into an answer. An error on the service's side becomes a 500 without its
 * cause, which the log has.
 *
 * @param beside what else the body has. @default - nothing
 */
export const answerErrors = (beside: Beside = () => ({})): MiddlewareObj<APIGatewayProxyEvent> => ({
  onError: (request) => {
    const { requestId } = request.event.requestContext;
    const error = request.error instanceof ServiceError ? request.error : internal;
    request.response = errorAnswer(error, requestId, beside);
  },
});

const expired = new ServiceError(401, [keyRequired]);

/**
 * Reads the caller from the authorizer's context. The context may be cached, so this looks at the
 * key's expiry again.
 */
export const readCaller = (): MiddlewareObj<ServiceEvent<unknown>> => ({
  before: ({ event, context }) => {
    const caller = fromContext(event.requestContext.authorizer);
    event.log.calledBy(caller);
    if (hasExpired(caller, Date.now() * 1000)) throw expired;
    const { requestId: id } = event.requestContext;
    event.service = {
      ...{ id, caller, body: undefined, budget: budgetOf(context) },
      describe: (details) => event.log.describes(details),
      lacksRecord: (error) => event.log.lacksRecord(error),
    };
    event.log.spends(event.service.budget.meter);
  },
});

/** What a role is for, as refusals say it. */
const doing: Readonly<Record<Role, string>> = {
  ...{ read: 'read', write: 'write' },
  ...{ inference: 'use inference in', admin: 'administer' },
};

/**
 * Refuses a request if the caller's key does not give the role on each project that it names. It
 * makes no difference whether a project exists.
 */
export const authorize = <Body>({
  role,
  method,
  projects: projectsOf,
}: Pick<Endpoint<Body>, 'role' | 'method' | 'projects'>): MiddlewareObj<ServiceEvent<Body>> => ({
  before: ({ event }) => {
    const { body, caller } = event.service;
    const projects: readonly NamedProject[] = projectsOf(body);
    event.log.names(projects.map(({ projectId }) => projectId));
    const refused = projects.find(({ projectId }) => !allows(caller.grants, projectId, role));
    if (refused) {
      throw forbidden(
        [method === 'GET' ? 'query' : 'body', ...refused.loc],
        `this key may not ${doing[role]} the project ${refused.projectId}`,
      );
    }
  },
});
