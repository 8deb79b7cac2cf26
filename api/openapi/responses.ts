import {
  type Example,
  isByLink,
  isKeyed,
  type KeyedRoute,
  type LinkRoute,
  type Operation,
  type Route,
  takesKey,
} from '../endpoint.ts';
import { type JsonSchema, refTo, type Schemas, toJsonSchema } from './schema.ts';

/** The statuses of errors in the document, and what they mean. */
export const errorTexts = {
  400: 'The body is no OTLP export, or no resource of it names a project. Of `/mcp`: the body is no message of the protocol.',
  401: 'No `Authorization`, the wrong scheme, or an unknown, revoked or expired key.',
  403: 'The key may not do this to this project.',
  404: 'What the request names does not exist.',
  405: 'The method is for sessions, which there are none of.',
  406: 'The service cannot answer in a type that `accept` asks for, or without a coding of `accept-encoding`.',
  409: 'The id already exists with different content.',
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
const withKey: readonly ErrorStatus[] = [401, 403, 503];
const withBody: readonly ErrorStatus[] = [413, 415, 422];

/** What the function of an OTLP endpoint answers, and what the gateway answers before it. */
const otlpErrors: ErrorStatus[] = [400, 401, 403, 413, 415, 429, 500, 502, 503, 504];

/** The same of an endpoint of JSON-RPC. What a tool refuses is a result with the status 200. */
const rpcErrors: ErrorStatus[] = [400, 401, 403, 406, 413, 415, 429, 500, 502, 503, 504];

/**
 * Whether a route negotiates its media type. Endpoints that stream their own answers do; those that
 * pass on another's, or bytes, do not.
 */
const negotiates = (route: KeyedRoute | LinkRoute): boolean =>
  route.streaming && !route.upstreams && route.form !== 'bytes';

/** The statuses of the errors that an operation can answer, in order. */
export const getErrorStatuses = (route: Route): ErrorStatus[] => {
  if (route.form === 'otlp') return otlpErrors;
  if (route.form === 'rpc') return rpcErrors;
  const own: readonly ErrorStatus[] = route.errors ?? [];
  const more: readonly ErrorStatus[] = (isKeyed(route) || isByLink(route)) && negotiates(route) ? [406] : [];
  const isTaking = isKeyed(route) || route.request !== undefined;
  const taking = [...(takesKey(route) ? withKey : []), ...(isTaking ? withBody : [])];
  return [...always, ...taking, ...more, ...own].sort((a, b) => a - b);
};

/**
 * The headers of answers beyond HTTP's own. They stand wherever they are answered:
 * openapi-generator dies of a reference in their place.
 */
const headers = {
  'x-request-id': {
    description: 'The id of the request, in the log too.',
    schema: { type: 'string' },
  },
  'x-content-type-options': {
    description: 'Always `nosniff`.',
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

/** The headers of every answer. */
export const everyHeader = {
  'x-request-id': headers['x-request-id'],
  'x-content-type-options': headers['x-content-type-options'],
};

const getErrorHeaders = (status: ErrorStatus) => ({
  ...everyHeader,
  ...((status === 429 || status === 503) && { 'retry-after': headers['retry-after'] }),
  ...(status === 401 && { 'www-authenticate': headers['www-authenticate'] }),
});

/** The answer of an error, as a component. */
export const errorResponse = (status: ErrorStatus) => ({
  description: errorTexts[status],
  headers: getErrorHeaders(status),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});

type Content = Record<string, { schema: JsonSchema; examples?: Record<string, object> }>;

/** Makes a component of a schema that has no name yet. References stay as they are. */
export const named = (name: string, schema: JsonSchema, schemas: Schemas): JsonSchema => {
  if (schema.$ref !== undefined) return schema;
  schemas.set(name, schema);
  return refTo(name);
};

const toExamples = (examples: Operation['examples'], value: (example: Example) => unknown) =>
  Object.fromEntries(
    Object.entries(examples).map(([name, example]) => [
      name,
      { summary: example.summary, value: value(example) },
    ]),
  );

export const requestExamples = ({ examples }: Operation) => toExamples(examples, ({ body }) => body);

const lines = (record: JsonSchema, mediaType: string): JsonSchema => ({
  type: 'string',
  description: 'One JSON object a line.',
  contentMediaType: mediaType,
  contentSchema: record,
});

/**
 * Records in each of their forms. A list comes first though lines are the default. Clients that
 * generators make ask for the first form that is called JSON, and parse it as one value.
 */
const recordContent = (record: JsonSchema, { examples }: Operation): Content => ({
  'application/json': {
    schema: { type: 'array', items: record },
    examples: toExamples(examples, ({ answer }) => [answer]),
  },
  'application/jsonl': {
    schema: lines(record, 'application/jsonl'),
    examples: toExamples(examples, ({ answer }) => `${JSON.stringify(answer)}\n`),
  },
  'application/x-ndjson': { schema: lines(record, 'application/x-ndjson') },
  'text/csv': {
    schema: { type: 'string', description: 'A line of names, then one line a record (RFC 4180).' },
  },
});

const upstreamContent = (answer: JsonSchema): Content => ({
  'application/json': { schema: answer },
  'text/event-stream': { schema: { description: "The upstream's server-sent events." } },
});

const protobuf = (message: string) => ({ schema: { description: `A message in protobuf: \`${message}\`.` } });

/** The message of an operation such as `OtlpTraces`: `ExportTraceServiceRequest`. */
const toMessageName = (name: string, what: 'Request' | 'Response'): string =>
  `Export${name.replace(/^.*Otlp/, '').replace('Traces', 'Trace')}Service${what}`;

const otlpContent = (answer: JsonSchema, { name, examples }: Operation): Content => ({
  'application/json': { schema: answer, examples: toExamples(examples, ({ answer }) => answer) },
  'application/x-protobuf': protobuf(toMessageName(name, 'Response')),
});

/** The content of a successful answer. */
export const toContent = (route: Route, operation: Operation, schemas: Schemas): Content => {
  const converted = toJsonSchema(route.answer(), schemas, 'output');
  if (route.form === 'upstream') return upstreamContent(converted);
  if (route.form === 'markdown')
    return {
      'text/markdown': {
        schema: converted,
        examples: toExamples(operation.examples, ({ answer }) => answer),
      },
    };
  if (route.form === 'bytes')
    return { 'application/octet-stream': { schema: { description: 'The bytes, as they came.' } } };
  const schema = named(`${operation.name}Res`, converted, schemas);
  if (route.form === 'records') return recordContent(schema, operation);
  if (route.form === 'lines') return { 'application/jsonl': { schema: lines(schema, 'application/jsonl') } };
  if (route.form === 'otlp') return otlpContent(schema, operation);
  return {
    'application/json': { schema, examples: toExamples(operation.examples, ({ answer }) => answer) },
  };
};

const definitions = 'https://github.com/open-telemetry/opentelemetry-proto';

/** The body of an OTLP export, in each of its encodings. */
export const otlpRequest = (operation: Operation) => ({
  required: true,
  description: `An \`${toMessageName(operation.name, 'Request')}\` as ${definitions} defines it.`,
  content: {
    'application/x-protobuf': protobuf(toMessageName(operation.name, 'Request')),
    'application/json': {
      schema: {
        type: 'object',
        properties: {
          [`resource${operation.name.replace(/^.*Otlp/, '').replace('Traces', 'Spans')}`]: {
            type: 'array',
            description: 'Resources, each with what it reports by scope.',
            items: { type: 'object' },
          },
        },
      },
      examples: requestExamples(operation),
    },
  },
});

/**
 * Statuses that API Gateway answers too. It knows one shape for all endpoints, whatever they take.
 */
const ofGateway: readonly ErrorStatus[] = [401, 413, 429, 500, 502, 503, 504];

const status = {
  type: 'object',
  description: 'A `google.rpc.Status`.',
  properties: {
    code: { type: 'integer', description: 'A code of `google.rpc.Code`.' },
    message: { type: 'string', description: 'What is wrong, and what to do about it.' },
  },
};

const rpcErrorBody = {
  type: 'object',
  description: 'A response of JSON-RPC.',
  properties: {
    jsonrpc: { type: 'string', description: '`2.0`.' },
    id: { description: 'The id of the request, or null.' },
    error: {
      type: 'object',
      description: 'What is wrong.',
      properties: {
        code: { type: 'integer', description: 'A code of JSON-RPC.' },
        message: { type: 'string', description: 'What is wrong, and what to do about it.' },
      },
    },
  },
};

/** An error of an endpoint of JSON-RPC, or of the gateway before it. */
export const rpcError = (httpStatus: ErrorStatus) => ({
  description: errorTexts[httpStatus],
  headers: getErrorHeaders(httpStatus),
  content: {
    'application/json': {
      schema: ofGateway.includes(httpStatus) ? { anyOf: [rpcErrorBody, refTo('Error')] } : rpcErrorBody,
    },
  },
});

/** An error of an OTLP endpoint, in the encoding of the request. */
export const otlpError = (httpStatus: ErrorStatus) => ({
  description: errorTexts[httpStatus],
  headers: getErrorHeaders(httpStatus),
  content: {
    'application/json': {
      schema: ofGateway.includes(httpStatus) ? { anyOf: [status, refTo('Error')] } : status,
    },
    'application/x-protobuf': protobuf('google.rpc.Status'),
  },
});
