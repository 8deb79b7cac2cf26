import middy, { type MiddyfiedHandler } from '@middy/core';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type { RoutePath } from '../../api/routes.ts';
import type { Caller } from '../../core/foundations/auth/index.ts';
import { readCaller } from './caller.ts';
import { answerErrors, timeoutEarlyResponse } from './errors.ts';
import type { ServiceEvent } from './event.ts';
import { logRequest } from './log.ts';
import { settings } from './settings.ts';
import { jsonText } from './text.ts';

/**
 * Makes the handler of an endpoint that answers what the request's key is. Any valid key may ask,
 * and no cache may keep the answer.
 */
export const callerEndpoint = (
  path: RoutePath,
  answer: (caller: Caller) => unknown,
): MiddyfiedHandler<ServiceEvent<undefined>, APIGatewayProxyResult> =>
  middy<ServiceEvent<undefined>, APIGatewayProxyResult>({ timeoutEarlyResponse })
    .use([logRequest(path), answerErrors(settings.names.service), readCaller()])
    .handler(async ({ service: { id, caller }, log }) => {
      const body = jsonText(answer(caller));
      log.describes(() => ({ status: 200, rows: 1, bytes: Buffer.byteLength(body) }));
      log.ends('answered');
      return {
        statusCode: 200,
        headers: { 'content-type': 'application/json', 'x-request-id': id, 'cache-control': 'no-store' },
        body,
      };
    });
