import middy from '@middy/core';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { graphql } from '../api/requests.ts';
import { answerGraphql, type GraphqlQuery } from '../core/doors/weave/graphql.ts';
import { readCaller } from './http/caller.ts';
import { answerErrors, timeoutEarlyResponse } from './http/errors.ts';
import type { ServiceEvent } from './http/event.ts';
import { logRequest } from './http/log.ts';
import { readRequest } from './http/request.ts';
import { settings } from './http/settings.ts';
import { jsonText } from './http/text.ts';

const { path, body } = graphql();

/** `POST /graphql`: what Weave's SDKs ask of Weights & Biases. Any valid key may ask. */
export const handler = middy<ServiceEvent<GraphqlQuery>, APIGatewayProxyResult>({ timeoutEarlyResponse })
  .use([
    logRequest(path),
    answerErrors(settings.names.service),
    readCaller(),
    readRequest(body, settings.names.dialect),
  ])
  .handler(async ({ service: { id, caller, body: query }, log }) => {
    const text = jsonText(answerGraphql(caller, query));
    log.describes(() => ({ status: 200, rows: 1, bytes: Buffer.byteLength(text) }));
    log.ends('answered');
    return {
      statusCode: 200,
      headers: { 'content-type': 'application/json', 'x-request-id': id, 'cache-control': 'no-store' },
      body: text,
    };
  });
