import { Readable } from 'node:stream';
import type { MiddlewareObj } from '@middy/core';
import { type Encoding, encodeStatus } from '../../core/doors/otel/index.ts';
import { challengeOf } from '../../core/foundations/wire/errors.ts';
import { ServiceError } from '../../core/foundations/wire/index.ts';
import type { RawAnswer } from '../http/endpoint.ts';
import { internal } from '../http/middlewares.ts';
import { headerOf, type ServiceEvent } from '../http/request.ts';
import { settings } from '../http/settings.ts';

const mediaTypes: Readonly<Record<string, Encoding>> = {
  'application/x-protobuf': 'application/x-protobuf',
  'application/json': 'application/json',
};

/**
 * The encoding of a request, by its `content-type`; parameters don't matter.
 *
 * @returns undefined if it is neither protobuf nor JSON
 */
export const encodingOf = (event: Pick<ServiceEvent<unknown>, 'headers'>): Encoding | undefined => {
  const [type = ''] = (headerOf(event, 'content-type') ?? '').split(';');
  return mediaTypes[type.trim().toLowerCase()];
};

/** An answer in an encoding. It is streamed: only so do bytes leave as they are. */
export const otlpAnswer = (
  status: number,
  encoding: Encoding,
  bytes: Uint8Array,
  headers: Readonly<Record<string, string>>,
): RawAnswer => ({
  statusCode: status,
  headers: { 'content-type': encoding, ...headers },
  body: Readable.from(bytes.length > 0 ? [bytes] : [], { objectMode: false }),
});

/** All problems of an error in one sentence. */
const messageOf = ({ detail }: ServiceError): string =>
  detail.map(({ loc, msg }) => (loc[0] === 'header' ? `the header ${loc[1]} ${msg}` : msg)).join('; ');

/**
 * Turns whatever is thrown into a `google.rpc.Status`, in the encoding of the request; in JSON if
 * the request has none that is known. Exporters go by the HTTP status and `retry-after`.
 */
export const answerOtlpErrors = (): MiddlewareObj<ServiceEvent<unknown>> => ({
  onError: (request) => {
    const { event } = request;
    const error = request.error instanceof ServiceError ? request.error : internal;
    const encoding = encodingOf(event) ?? 'application/json';
    const bytes = encodeStatus(encoding, error.status, messageOf(error));
    request.response = otlpAnswer(error.status, encoding, bytes, {
      'x-request-id': event.requestContext.requestId,
      ...(error.retryAfterSeconds !== undefined && { 'retry-after': String(error.retryAfterSeconds) }),
      ...(error.status === 401 && { 'www-authenticate': challengeOf(settings.policy.service) }),
    });
  },
});
