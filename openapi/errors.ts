import type { KeyedRoute, Route } from '../api/routes.ts';
import { isKeyed, takesKey } from '../api/routes.ts';
import type { Operation } from './operation.ts';

/** The statuses of errors in the document, and what they mean. */
export const errorTexts = {
  400: 'The body is no OTLP export, or no resource of it names a project.',
  401: 'No `Authorization`, the wrong scheme, or an unknown, revoked or expired key.',
  403: 'The key may not do this to this project.',
  404: 'What the request names does not exist.',
  406: 'The service cannot answer in a type that `accept` asks for.',
  409: 'The id exists already, with other content.',
  413: 'The request is over 6 MB as an event, which is about 5 MB of typical JSON, or one value is over its own limit.',
  415: 'The `content-type` is not JSON, or the body is encoded.',
  422: 'The body does not fit. Nothing was written.',
  429: 'Throttled. The same request may be sent again.',
  500: "Something went wrong on the service's side. Its log has the cause under the request's id.",
  502: 'The service gave no valid answer, or on the inference endpoints the upstream cannot be reached. The same request may be sent again.',
  503: 'Storage did not take or give the data in time. The same request may be sent again.',
  504: 'The service, or on the inference endpoints the upstream, did not answer in time. The same request may be sent again.',
} as const;

export type ErrorStatus = keyof typeof errorTexts;

/** The errors of any route: the gateway answers them. */
const always: readonly ErrorStatus[] = [429, 500, 502, 504];
/** The errors of a key. */
const withKey: readonly ErrorStatus[] = [401, 403, 503];
const withBody: readonly ErrorStatus[] = [413, 415, 422];

/** What the function of an OTLP endpoint answers, and what the gateway answers before it. */
const otlpErrors: ErrorStatus[] = [400, 401, 403, 413, 415, 429, 500, 502, 503, 504];

/**
 * Whether a route negotiates its media type. Endpoints that stream their own answers do; those that
 * pass on another's do not.
 */
const negotiates = (route: KeyedRoute): boolean => route.streaming && !route.upstreams;

/** The statuses of the errors that an operation can answer, in order. */
export const errorsOf = (route: Route, operation: Operation): ErrorStatus[] => {
  if (operation.form === 'otlp') return otlpErrors;
  const own: readonly ErrorStatus[] = operation.errors ?? [];
  const more: readonly ErrorStatus[] = isKeyed(route) && negotiates(route) ? [406] : [];
  const isTaking = isKeyed(route) || operation.request !== undefined;
  const taking = [...(takesKey(route) ? withKey : []), ...(isTaking ? withBody : [])];
  return [...always, ...taking, ...more, ...own].sort((a, b) => a - b);
};

/**
 * The headers of answers beyond HTTP's own. They stand wherever they are answered:
 * openapi-generator dies of a reference in their place.
 */
export const headers = {
  'x-request-id': {
    description: 'The id of the request, in the log too.',
    schema: { type: 'string' },
  },
  'retry-after': {
    description: 'Seconds until the same request may be sent again.',
    schema: { type: 'integer', minimum: 0 },
  },
  'www-authenticate': {
    description: 'The schemes that the service takes.',
    schema: { type: 'string' },
  },
} as const;

/** The headers of an error. */
export const headersOf = (status: ErrorStatus) => ({
  'x-request-id': headers['x-request-id'],
  ...((status === 429 || status === 503) && { 'retry-after': headers['retry-after'] }),
  ...(status === 401 && { 'www-authenticate': headers['www-authenticate'] }),
});

/** The answer of an error, as a component. */
export const errorResponse = (status: ErrorStatus) => ({
  description: errorTexts[status],
  headers: headersOf(status),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});
