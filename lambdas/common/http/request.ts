import { isUtf8 } from 'node:buffer';
import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import type * as z from 'zod/mini';
import type { Endpoint, KeyEndpoint, LinkEndpoint, NamedProject } from '../../../api/endpoint.ts';
import {
  allows,
  type Caller,
  describeRefusal,
  fromContext,
  hasExpired,
} from '../../../foundations/auth/index.ts';
import { type Door, ownDoor } from '../../../foundations/door.ts';
import { type RequestBudget, requestBudget } from '../../../foundations/storage/index.ts';
import { challenge, keyOrTokenRequired, keyRequired } from '../../../foundations/wire/errors.ts';
import {
  type ErrorBody,
  type ErrorDetail,
  forbidden,
  invalid,
  isJsonObject,
  type ProjectId,
  ServiceError,
  storedRefs,
  tooLarge,
  unavailable,
} from '../../../foundations/wire/index.ts';
import { parseBodyJson, parseTolerantly, parseValue } from '../../../foundations/wire/schema.ts';
import { type Details, RequestLog } from '../log/request-log.ts';
import { everyAnswer, jsonText } from './answer.ts';
import { originHeaders, refuseCrossSiteBasic } from './cross-site.ts';
import { getHeader } from './headers.ts';

/*
 * What a request passes before its handler: its line in the log, its caller, its fields, and what
 * the caller may do.
 */

/** What the middlewares find out about a request before its handler runs. */
export interface ServiceRequest<Body> {
  /** API Gateway's id of the request. */
  readonly id: string;
  readonly caller: Caller;
  /** The IP address that it came from; null if the gateway does not say. */
  readonly address: string | null;
  /** Whether the caller may only add to a project of the request, as {@link mayOnlyAdd} has it. */
  readonly addsOnly: boolean;
  readonly body: Body;
  readonly budget: RequestBudget;
  /** What the door that it came in by decides. */
  readonly door: Door;
  /** Says how the log gets the answer's details once it is over. @default - one row */
  readonly describe: (details: () => Details) => void;
  /** Tells the log that the request was not recorded. */
  readonly lacksRecord: (error: unknown) => void;
  /** Tells the log which projects the request turned out to be about. */
  readonly names: (projects: readonly ProjectId[]) => void;
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
export const createBudget = (context: Context, signal?: AbortSignal): RequestBudget =>
  requestBudget(Math.max(0, context.getRemainingTimeInMillis() - marginMs), signal);

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

/** The answer to an error on the service's side. Its cause is in the log alone. */
export const internal = /* @__PURE__ */ new ServiceError(500, [
  {
    loc: ['service'],
    msg: "something went wrong in the service; its log has the error under this request's id",
    type: 'internal_error',
  },
]);

/** What stands beside `detail` in the answer to an error. */
type Beside = (error: ServiceError, event: APIGatewayProxyEvent) => object;

/** The answer to a request that failed: the one shape of all errors, with the request's id. */
const errorAnswer = (error: ServiceError, requestId: string, beside: object): APIGatewayProxyResult => {
  const body: ErrorBody = { detail: error.detail, ...beside };
  return {
    statusCode: error.status,
    headers: {
      ...everyAnswer(requestId),
      'content-type': 'application/json',
      ...(error.retryAfterSeconds !== undefined && { 'retry-after': String(error.retryAfterSeconds) }),
      ...(error.status === 401 && { 'www-authenticate': challenge }),
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
 *
 * @param beside what else the body has. @default - nothing
 */
export const answerErrors = (beside: Beside = () => ({})): MiddlewareObj<APIGatewayProxyEvent> => ({
  onError: (request) => {
    const { requestId } = request.event.requestContext;
    const error = request.error instanceof ServiceError ? request.error : internal;
    request.response = errorAnswer(error, requestId, beside(error, request.event));
  },
});

/** Adds the headers for pages of other origins to every answer. */
export const answerOrigins = (): MiddlewareObj<APIGatewayProxyEvent> => {
  const add: NonNullable<MiddlewareObj<APIGatewayProxyEvent>['after']> = (request) => {
    const { vary, ...added } = originHeaders(request.event);
    if (vary === undefined || !request.response) return;
    const { headers = {} } = request.response;
    const varies = [headers.vary, vary].filter((name) => name !== undefined).join(', ');
    request.response = { ...request.response, headers: { ...headers, ...added, vary: varies } };
  };
  return { after: add, onError: add };
};

/** What keeps an answer to a link with the browser that asked for it. */
const linkHeaders = {
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
};

/** Adds {@link linkHeaders} to every answer. */
const answerPrivately = (): MiddlewareObj<APIGatewayProxyEvent> => {
  const add: NonNullable<MiddlewareObj<APIGatewayProxyEvent>['after']> = (request) => {
    const { response } = request;
    if (response) request.response = { ...response, headers: { ...response.headers, ...linkHeaders } };
  };
  return { after: add, onError: add };
};

/** The refusal of a key or a token that has expired since the authorizer's answer was cached. */
const expired = ({ person }: Caller): ServiceError =>
  new ServiceError(401, [person ? keyOrTokenRequired : keyRequired]);

const beginService = (event: ServiceEvent<unknown>, caller: Caller, context: Context): void => {
  event.service = {
    id: event.requestContext.requestId,
    caller,
    address: event.requestContext.identity?.sourceIp ?? null,
    addsOnly: false,
    body: undefined,
    budget: createBudget(context),
    door: ownDoor,
    describe: (details) => event.log.describes(details),
    lacksRecord: (error) => event.log.lacksRecord(error),
    names: (projects) => event.log.names(projects),
  };
  event.log.spends(event.service.budget.meter);
};

/**
 * Reads the caller from the authorizer's context. The context may be cached, so this looks at the
 * key's expiry again, and at the site that a request comes from.
 */
export const readCaller = (): MiddlewareObj<ServiceEvent<unknown>> => ({
  before: ({ event, context }) => {
    const caller = fromContext(event.requestContext.authorizer);
    event.log.calledBy(caller);
    refuseCrossSiteBasic(event);
    if (hasExpired(caller, Date.now() * 1000)) throw expired(caller);
    beginService(event, caller, context);
  },
});

/** Whoever has a link and no key: nobody, who may do nothing. */
const nobody: Caller = { user: '', keyId: '', grants: [] };

/** Begins a request that takes no key. */
const readNobody = (): MiddlewareObj<ServiceEvent<unknown>> => ({
  before: ({ event, context }) => {
    beginService(event, nobody, context);
  },
});

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
  const length = getHeader(event, 'content-length') ?? '';
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
 * The body as JSON, with refs as they are stored. A body without a content type counts as JSON.
 *
 * @throws ServiceError 415 if it says that it is something else, 422 if it is not JSON
 */
const bodyJson = (event: SentBody): unknown => {
  const type = getHeader(event, 'content-type');
  if (type !== undefined && !jsonType.test(type.trim())) {
    throw unsupported(
      'content-type',
      `should be only application/json; it is ${JSON.stringify(type.slice(0, 100))}`,
    );
  }
  const encoding = getHeader(event, 'content-encoding');
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw unsupported(
      'content-encoding',
      'should be absent, and the body plain JSON; exports of OpenTelemetry may be packed, and nothing else',
    );
  }
  return parseBodyJson(storedRefs(bodyText(event)));
};

const multipartType = /^multipart\/form-data\s*;/i;

const broken: ErrorDetail = {
  loc: ['body'],
  msg: 'the body is not multipart/form-data with the boundary that content-type names',
  type: 'multipart_invalid',
};

/**
 * The parts of a form by their names: files as bytes, the others as text. The last of a name
 * counts.
 */
const parseParts = async (bytes: Buffer, type: string): Promise<Record<string, unknown>> => {
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
  readonly locate: (field: string) => 'body' | 'path' | 'query';
}

/** The parameters of the path by their names, but for those that take the rest of a path. */
const getPathParameters = ({ resource, pathParameters }: APIGatewayProxyEvent): Record<string, unknown> =>
  Object.fromEntries(Object.entries(pathParameters ?? {}).filter(([name]) => resource.includes(`{${name}}`)));

/** Where the fields of a request stand that are not in its path. */
const fieldsOf = ({ httpMethod }: Pick<APIGatewayProxyEvent, 'httpMethod'>): 'body' | 'query' =>
  httpMethod === 'GET' || httpMethod === 'HEAD' ? 'query' : 'body';

/** The fields of a request. Those of the path win over others, since they are what was matched. */
const parseFields = (event: APIGatewayProxyEvent): Fields => {
  const inPath = getPathParameters(event);
  const place = fieldsOf(event);
  const value = place === 'query' ? { ...event.queryStringParameters } : bodyJson(event);
  return {
    value: isJsonObject(value) ? Object.assign(value, inPath) : value,
    locate: (field) => (Object.hasOwn(inPath, field) ? 'path' : place),
  };
};

/** Says of a problem where in the request it is. */
const atItsPlace =
  ({ locate }: Fields) =>
  (detail: ErrorDetail): ErrorDetail => {
    const [where, field, ...rest] = detail.loc;
    if (where !== 'body' || field === undefined) return detail;
    return { ...detail, loc: [locate(field), field, ...rest] };
  };

/** A form (RFC 7578). The platform parses it. */
const parseForm = async (event: APIGatewayProxyEvent): Promise<Fields> => {
  const type = getHeader(event, 'content-type') ?? '';
  if (!multipartType.test(type.trim()))
    throw unsupported('content-type', 'should be multipart/form-data with its boundary');
  return { value: await parseParts(bodyBytes(event), type), locate: () => 'body' };
};

/** What of a description says how its requests are read. */
export interface Takes<Body> {
  readonly request?: (() => z.ZodMiniType<Body>) | undefined;
  readonly takes?: 'json' | 'form' | undefined;
  readonly tolerant?: boolean | undefined;
  /**
   * Makes a body of the fields that came, where a door takes others than its endpoint; `parse` is the
   * endpoint's own. @default - the fields are parsed as they came
   */
  readonly translate?: Translate<Body> | undefined;
}

/** Makes a body of fields. */
export type Translate<Body> = (fields: unknown, parse: (fields: unknown) => Body) => Body;

/** Made once for each description: schemas take time to make. */
const schemas = new WeakMap<() => z.ZodMiniType, z.ZodMiniType>();

const getSchema = <Body>(request: () => z.ZodMiniType<Body>): z.ZodMiniType<Body> => {
  const schema = schemas.get(request) ?? request();
  schemas.set(request, schema);
  return schema as z.ZodMiniType<Body>;
};

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
  translate = (fields, parse) => parse(fields),
}: Takes<Body>): MiddlewareObj<ServiceEvent<Body>> => {
  const schema = request && getSchema(request);
  return {
    before: async ({ event }) => {
      if (!schema) return;
      const fields = takes === 'form' ? await parseForm(event) : parseFields(event);
      try {
        const parse = (value: unknown): Body => {
          if (!tolerant) return parseValue(schema, value);
          const tolerated = parseTolerantly(schema, value);
          event.log.passesOver(tolerated.passedOver);
          return tolerated.value;
        };
        event.service = { ...event.service, body: translate(fields.value, parse) };
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        throw new ServiceError(error.status, error.detail.map(atItsPlace(fields)));
      }
    },
  };
};

/**
 * Whether a caller who may report to these projects may do no more in one of them. Such a request adds to
 * what is stored, and neither changes nor reveals it: docs/decisions/0281.
 */
export const mayOnlyAdd = ({ grants }: Pick<Caller, 'grants'>, projects: readonly ProjectId[]): boolean =>
  projects.some((project) => !allows(grants, project, 'write'));

/**
 * The most bytes of a request that only adds: anybody can send it, at the operator's expense. Exports are
 * measured once they are unpacked.
 */
export const maxAddedBytes = 1024 * 1024;

/** @throws ServiceError 413 */
const refuseLong = ({ body }: SentBody): void => {
  const bytes = Buffer.byteLength(body ?? '');
  if (bytes <= maxAddedBytes) return;
  const msg = `should be at most ${maxAddedBytes} bytes with a key of the role report, not ${bytes}: send several requests`;
  throw tooLarge({ loc: ['body'], msg, type: 'too_large' });
};

/**
 * Refuses a request if the caller's key does not give the role on each project that it names. It
 * makes no difference whether a project exists.
 */
export const authorize = <Body>({
  role,
  projects: findProjects,
}: Pick<Endpoint<Body>, 'role' | 'projects'>): MiddlewareObj<ServiceEvent<Body>> => ({
  before: ({ event }) => {
    const { body, caller } = event.service;
    const projects: readonly NamedProject[] = findProjects(body);
    const ids = projects.map(({ projectId }) => projectId);
    event.log.names(ids);
    const refused = projects.find(({ projectId }) => !allows(caller.grants, projectId, role));
    if (refused) {
      throw forbidden([fieldsOf(event), ...refused.loc], describeRefusal(role, refused.projectId));
    }
    const addsOnly = role === 'report' && mayOnlyAdd(caller, ids);
    if (addsOnly) refuseLong(event);
    event.service = { ...event.service, addsOnly };
  },
});

/**
 * The middlewares of an endpoint, in order: log → errors → caller → request → authorization. With a link there
 * is no caller, and what the link's secret opens is the handler's to decide.
 */
export const middlewares = <Body>(
  description: Endpoint<Body> | KeyEndpoint<Body> | LinkEndpoint<Body>,
): MiddlewareObj<ServiceEvent<Body>>[] => {
  const isByLink = description.scheme === 'none';
  return [
    isByLink ? answerPrivately() : answerOrigins(),
    logRequest(description.path),
    answerErrors(),
    isByLink ? readNobody() : readCaller(),
    readRequest(description),
    ...(description.role ? [authorize(description)] : []),
  ];
};
