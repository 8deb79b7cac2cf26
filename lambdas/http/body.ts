import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { ServiceError } from '../../core/wire/index.ts';
import { type BodySchema, parseBody } from '../../core/wire/schema.ts';
import { headerOf, type ServiceEvent } from './event.ts';

const jsonType = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

const unsupported = (header: string, msg: string): ServiceError =>
  new ServiceError(415, [{ loc: ['header', header], msg, type: 'unsupported_media_type' }]);

/** The body as the client sent it; empty if there is none. */
export const bodyText = ({
  body,
  isBase64Encoded,
}: Pick<APIGatewayProxyEvent, 'body' | 'isBase64Encoded'>): string =>
  isBase64Encoded ? Buffer.from(body ?? '', 'base64').toString('utf8') : (body ?? '');

/** Parses the body and checks it against a schema. A body without a content type counts as JSON. */
export const readBody = <Body>(schema: BodySchema<Body>): MiddlewareObj<ServiceEvent<Body>> => ({
  before: ({ event }) => {
    const type = headerOf(event, 'content-type');
    if (type !== undefined && !jsonType.test(type.trim())) {
      throw unsupported('content-type', `should be application/json, not ${type.slice(0, 100)}`);
    }
    const encoding = headerOf(event, 'content-encoding');
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
      throw unsupported('content-encoding', 'should be absent: the body is plain JSON');
    }
    event.service = { ...event.service, body: parseBody(schema, bodyText(event)) };
  },
});
