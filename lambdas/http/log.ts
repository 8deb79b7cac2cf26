import type { MiddlewareObj } from '@middy/core';
import { RequestLog } from '../log/index.ts';
import type { ServiceEvent } from './event.ts';

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
