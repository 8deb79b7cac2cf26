import { isUtf8 } from 'node:buffer';
import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type * as z from 'zod/mini';
import type { Caller } from '../../foundations/auth/index.ts';
import { type RequestBudget, requestBudget } from '../../foundations/storage/index.ts';
import { type ErrorDetail, invalid, isJsonObject, ServiceError } from '../../foundations/wire/index.ts';
import { jsonOf, parseTolerantly, parseValue } from '../../foundations/wire/parse-body.ts';
import type { Details, RequestLog } from '../log/request-log.ts';

/** What the middlewares find out about a request before its handler runs. */
export interface ServiceRequest<Body> {
  /** API Gateway's id of the request. */
  readonly id: string;
  readonly caller: Caller;
  readonly body: Body;
  readonly budget: RequestBudget;
  /** Says how the log gets the answer's details once it is over. @default - one row */
  readonly describe: (details: () => Details) => void;
  /** Tells the log that the request was not recorded. */
  readonly lacksRecord: (error: unknown) => void;
}

/** API Gateway's event with what the middlewares add to it. */
export interface ServiceEvent<Body> extends APIGatewayProxyEvent {
  service: ServiceRequest<Body>;
  /** The request's line in the log. */
  log: RequestLog;
}

/**
 * The part of a function's time that is kept back to answer when storage does not, in milliseconds.
 */
const marginMs = 1000;

/**
 * A budget that ends before the function's time-out, so that slow storage gives a 503 and not a
 * broken request.
 */
export const budgetOf = (context: Context, signal?: AbortSignal): RequestBudget =>
  requestBudget(Math.max(0, context.getRemainingTimeInMillis() - marginMs), signal);

/** A header's value; undefined if there is none. Clients choose the case of its name. */
export const headerOf = (event: Pick<APIGatewayProxyEvent, 'headers'>, name: string): string | undefined => {
  const entry = Object.entries(event.headers ?? {}).find(([key]) => key.toLowerCase() === name);
  return entry?.[1];
};

/** The headers with their names in lower case. */
export const headersOf = (event: Pick<APIGatewayProxyEvent, 'headers'>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(event.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));

const jsonType = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** The error for a body in another form than its endpoint takes. */
export const unsupported = (header: string, msg: string): ServiceError =>
  new ServiceError(415, [{ loc: ['header', header], msg, type: 'unsupported_media_type' }]);

type SentBody = Pick<APIGatewayProxyEvent, 'headers' | 'body' | 'isBase64Encoded'>;

/** The body's bytes as the client sent them; none if there is no body. */
export const bodyBytes = ({ body, isBase64Encoded }: Omit<SentBody, 'headers'>): Buffer =>
  Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');

/** What a decoder writes for bytes that are not UTF-8. */
const replacement = '\ufffd';

const notUtf8 = (text: string): ServiceError => {
  const at = text.indexOf(replacement);
  const msg = `the body is not UTF-8; see its character ${at}`;
  return invalid({ loc: ['body', String(at)], msg, type: 'json_invalid' });
};

/**
 * Whether the gateway has replaced bytes of a body, since it hands bodies over as text. The bytes
 * are gone, but those that stand for them are others in number than `content-length` says
 * (docs/decisions/0166).
 */
const isMended = (event: SentBody, text: string): boolean => {
  if (!text.includes(replacement)) return false;
  const length = headerOf(event, 'content-length') ?? '';
  return /^\d+$/.test(length) && Number(length) !== Buffer.byteLength(text);
};

/**
 * The body as the client sent it; empty if there is none.
 *
 * @throws ServiceError 422 if it is not UTF-8
 */
export const bodyText = (event: SentBody): string => {
  const bytes = event.isBase64Encoded ? bodyBytes(event) : undefined;
  const text = bytes ? bytes.toString('utf8') : (event.body ?? '');
  if (bytes ? !isUtf8(bytes) : isMended(event, text)) throw notUtf8(text);
  return text;
};

/**
 * The body as JSON. A body without a content type counts as JSON.
 *
 * @throws ServiceError 415 if it says that it is something else, 422 if it is not JSON
 */
export const bodyJson = (event: SentBody): unknown => {
  const type = headerOf(event, 'content-type');
  if (type !== undefined && !jsonType.test(type.trim())) {
    throw unsupported('content-type', `should be application/json, not ${type.slice(0, 100)}`);
  }
  const encoding = headerOf(event, 'content-encoding');
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw unsupported('content-encoding', 'should be absent: the body is plain JSON');
  }
  return jsonOf(bodyText(event));
};

const multipartType = /^multipart\/form-data\s*;/i;

const broken: ErrorDetail = {
  loc: ['body'],
  msg: 'the body is no multipart/form-data with the boundary that content-type names',
  type: 'multipart_invalid',
};

/**
 * The parts of a form by their names: files as bytes, the others as text. The last of a name
 * counts.
 */
const partsOf = async (bytes: Buffer, type: string): Promise<Record<string, unknown>> => {
  const form = await new Response(Uint8Array.from(bytes), { headers: { 'content-type': type } })
    .formData()
    .catch(() => {
      throw invalid(broken);
    });
  const parts = Object.create(null) as Record<string, unknown>;
  for (const [name, part] of form)
    parts[name] = typeof part === 'string' ? part : new Uint8Array(await part.arrayBuffer());
  return parts;
};

/** The fields of a request, and where each of them stands. */
interface Fields {
  readonly value: unknown;
  readonly placeOf: (field: string) => 'body' | 'path' | 'query';
}

/** The parameters of the path by their names, but for those that take the rest of a path. */
const parametersOf = ({ resource, pathParameters }: APIGatewayProxyEvent): Record<string, unknown> =>
  Object.fromEntries(Object.entries(pathParameters ?? {}).filter(([name]) => resource.includes(`{${name}}`)));

/** The fields of a request. Those of the path win over others, since they are what was matched. */
const fieldsOf = (event: APIGatewayProxyEvent): Fields => {
  const inPath = parametersOf(event);
  const isGet = event.httpMethod === 'GET';
  const value = isGet ? { ...event.queryStringParameters } : bodyJson(event);
  return {
    value: isJsonObject(value) ? Object.assign(value, inPath) : value,
    placeOf: (field) => (Object.hasOwn(inPath, field) ? 'path' : isGet ? 'query' : 'body'),
  };
};

/** Says of a problem where in the request it is. */
const atItsPlace =
  ({ placeOf }: Fields) =>
  (detail: ErrorDetail): ErrorDetail => {
    const [where, field, ...rest] = detail.loc;
    if (where !== 'body' || field === undefined) return detail;
    return { ...detail, loc: [placeOf(field), field, ...rest] };
  };

/** A form (RFC 7578). The platform parses it. */
const formOf = async (event: APIGatewayProxyEvent): Promise<Fields> => {
  const type = headerOf(event, 'content-type') ?? '';
  if (!multipartType.test(type.trim()))
    throw unsupported('content-type', 'should be multipart/form-data with its boundary');
  return { value: await partsOf(bodyBytes(event), type), placeOf: () => 'body' };
};

/** What of a description says how its requests are read. */
export interface Takes<Body> {
  readonly request?: (() => z.ZodMiniType<Body>) | undefined;
  readonly takes?: 'json' | 'form' | undefined;
  readonly tolerant?: boolean | undefined;
}

/**
 * Reads the fields of a request and checks them against its schema: the body, or the query of a
 * GET, and the parameters of the path.
 *
 * @throws ServiceError 415 for a body in another form, 422 for one that does not fit
 */
export const readRequest = <Body>({
  request,
  takes,
  tolerant,
}: Takes<Body>): MiddlewareObj<ServiceEvent<Body>> => {
  const schema = request?.();
  return {
    before: async ({ event }) => {
      if (!schema) return;
      const fields = takes === 'form' ? await formOf(event) : fieldsOf(event);
      try {
        if (!tolerant) {
          event.service = { ...event.service, body: parseValue(schema, fields.value) };
          return;
        }
        const { value, passedOver } = parseTolerantly(schema, fields.value);
        event.log.passesOver(passedOver);
        event.service = { ...event.service, body: value };
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        throw new ServiceError(error.status, error.detail.map(atItsPlace(fields)));
      }
    },
  };
};
