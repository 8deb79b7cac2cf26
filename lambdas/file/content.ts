import { Readable } from 'node:stream';
import middy from '@middy/core';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import { fileContent } from '../../api/requests.ts';
import { readFile } from '../../core/records/files.ts';
import { middlewares } from '../http/endpoint.ts';
import { timeoutEarlyResponse } from '../http/errors.ts';
import type { ServiceEvent, ServiceRequest } from '../http/event.ts';
import { settings } from '../http/settings.ts';

type Body = ServiceRequest<ReturnType<ReturnType<typeof fileContent>['body']['parse']>>['body'];

/**
 * `POST /file/content`: the bytes of a file. It is streamed, because API Gateway takes a buffered
 * answer for text.
 */
export const handler = middy<ServiceEvent<Body>, unknown>({
  executionMode: executionModeStreamifyResponse,
  timeoutEarlyResponse,
})
  .use(
    middlewares({
      ...fileContent(),
      projects: ({ project_id: projectId }) => [{ projectId, loc: ['project_id'] }],
    }),
  )
  .handler(async ({ service: { id, body, budget }, log }) => {
    const bytes = await readFile(settings.objects, body.project_id, body.digest, budget);
    log.describes(() => ({ status: 200, rows: 1, bytes: bytes.length }));
    log.ends('answered');
    return {
      statusCode: 200,
      headers: {
        'content-type': 'application/octet-stream',
        'x-request-id': id,
      },
      body: Readable.from(bytes.length > 0 ? [bytes] : [], { objectMode: false }),
    };
  });
