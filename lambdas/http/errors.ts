import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { challengeOf } from '../../core/foundations/wire/errors.ts';
import { type ErrorBody, ServiceError, unavailable } from '../../core/foundations/wire/index.ts';
import { jsonText } from './text.ts';

/** The answer to an error on the service's side. Its cause is in the log alone. */
export const internal = new ServiceError(500, [
  {
    loc: ['service'],
    msg: "something went wrong on the service's side; its log has it under this request's id",
    type: 'internal_error',
  },
]);

/** The answer to a request that failed: the one shape of all errors, with the request's id. */
const errorAnswer = (error: ServiceError, requestId: string, service: string): APIGatewayProxyResult => {
  const body: ErrorBody = { detail: error.detail };
  return {
    statusCode: error.status,
    headers: {
      'content-type': 'application/json',
      'x-request-id': requestId,
      ...(error.retryAfterSeconds !== undefined && { 'retry-after': String(error.retryAfterSeconds) }),
      ...(error.status === 401 && { 'www-authenticate': challengeOf(service) }),
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
 */
export const answerErrors = (service: string): MiddlewareObj<APIGatewayProxyEvent> => ({
  onError: (request) => {
    const { requestId } = request.event.requestContext;
    const error = request.error instanceof ServiceError ? request.error : internal;
    request.response = errorAnswer(error, requestId, service);
  },
});
