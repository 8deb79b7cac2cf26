import { Readable } from 'node:stream';
import { inflateRawSync } from 'node:zlib';
import type { MiddlewareObj } from '@middy/core';
import { mcp } from '../../api/mcp.ts';
import type { ToolDescription, ToolSchemas } from '../../api/tools.ts';
import { type Served, serve, type ToolContext } from '../../core/doors/mcp/index.ts';
import { readPrices, steadyPrices } from '../../core/records/costs/index.ts';
import { createLinks } from '../../foundations/links.ts';
import type { RequestBudget } from '../../foundations/storage/index.ts';
import { challenge } from '../../foundations/wire/errors.ts';
import { type ProjectId, ServiceError } from '../../foundations/wire/index.ts';
import { everyAnswer } from '../common/http/answer.ts';
import { refuseCrossSite } from '../common/http/cross-site.ts';
import { type RawAnswer, rawEndpoint } from '../common/http/endpoint.ts';
import { getHeaders } from '../common/http/headers.ts';
import { movingLabels } from '../common/http/label-moves.ts';
import { lookupsFor } from '../common/http/lookups.ts';
import { ownUrl } from '../common/http/own-url.ts';
import { bodyText, internal, logRequest, readCaller, type ServiceEvent } from '../common/http/request.ts';
import { stores } from '../common/http/stores.ts';

/** The service's version, set by the bundler. */
declare const SERVICE_VERSION: string;

/** The JSON Schemas of the tools, deflated, as Base64; set by the bundler: they are made when the stack is. */
declare const MCP_TOOLS: string;

const answer = (
  status: number,
  body: string,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): RawAnswer => ({
  statusCode: status,
  headers: { ...everyAnswer(requestId), 'cache-control': 'no-store', ...headers },
  body: Readable.from(body === '' ? [] : [body], { objectMode: false }),
});

/** The codes of JSON-RPC for what is no JSON, what is wrong with a request, and what went wrong here. */
const codes = { parse: -32_700, request: -32_600, internal: -32_603 } as const;

const getCode = ({ status, detail: [first] }: ServiceError): number => {
  if (status >= 500) return codes.internal;
  return first?.type === 'json_invalid' ? codes.parse : codes.request;
};

/** An error that no message can be blamed for, as JSON-RPC has it. */
const rpcError = (error: ServiceError): string => {
  const message = error.detail.map(({ msg }) => msg).join('; ');
  return JSON.stringify({
    jsonrpc: '2.0',
    id: null,
    error: { code: getCode(error), message, data: { detail: error.detail } },
  });
};

const answerRpcErrors = (): MiddlewareObj<ServiceEvent<unknown>> => ({
  onError: (request) => {
    const error = request.error instanceof ServiceError ? request.error : internal;
    request.response = answer(error.status, rpcError(error), request.event.requestContext.requestId, {
      'content-type': 'application/json',
      ...(error.retryAfterSeconds !== undefined && { 'retry-after': String(error.retryAfterSeconds) }),
      ...(error.status === 401 && { 'www-authenticate': challenge }),
      ...(error.status === 405 && { allow: 'POST' }),
    });
  },
});

const notAllowed = new ServiceError(405, [
  {
    loc: ['method'],
    msg: 'only POST is served: there are no sessions and no streams',
    type: 'method_not_allowed',
  },
]);

/** Made once for each tool: schemas take time to make. */
const schemas = new Map<string, ReturnType<ToolDescription['request']>>();

const getSchema: ToolContext['getSchema'] = ({ name, request }) => {
  const known = schemas.get(name) ?? request();
  schemas.set(name, known);
  return known as ReturnType<typeof request>;
};

const createContext = (event: ServiceEvent<unknown>): ToolContext => {
  const { caller, budget } = event.service;
  return {
    caller,
    budget,
    getSchema,
    stores,
    lookups: {
      ...lookupsFor(caller),
      steadyPrices: async (projectId: ProjectId, budget: RequestBudget) =>
        steadyPrices(projectId, await readPrices(stores.costs, projectId, budget)),
    },
    links: createLinks(ownUrl(event)),
    names: (projectId) => event.log.names([projectId]),
    now: Date.now() * 1000,
    movingLabels: (work) => movingLabels(event.service, work),
  };
};

/**
 * The body of a message.
 *
 * @throws ServiceError 400 if it is not UTF-8, as the protocol has it of what is no JSON
 */
const messageText = (event: ServiceEvent<unknown>): string => {
  try {
    return bodyText(event);
  } catch (error) {
    throw error instanceof ServiceError ? new ServiceError(400, error.detail) : error;
  }
};

const toRequest = (event: ServiceEvent<unknown>): Request => {
  const headers = Object.entries(getHeaders(event)).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return new Request(`${ownUrl(event)}${mcp.path}`, { method: 'POST', headers, body: messageText(event) });
};

let toolSchemas: ToolSchemas | undefined;

const about = {
  get version() {
    return SERVICE_VERSION;
  },
  getSchemas: (): ToolSchemas => {
    toolSchemas ??= JSON.parse(inflateRawSync(Buffer.from(MCP_TOOLS, 'base64')).toString('utf8'));
    return toolSchemas ?? {};
  },
};

const log = ({ log }: ServiceEvent<unknown>, { tool, error, response }: Served, bytes: number): void => {
  log.describes(() => ({
    status: response.status,
    rows: 1,
    bytes,
    ...(tool !== undefined && { plan: { tool } }),
  }));
  log.ends(error === undefined && response.status < 400 ? 'answered' : 'refused', error);
};

/** `POST /mcp`: the Model Context Protocol. GET and DELETE are for sessions, which there are none of. */
export const handler = rawEndpoint(
  mcp,
  async (event) => {
    if (event.httpMethod !== 'POST') throw notAllowed;
    // The specification asks for it with any key.
    refuseCrossSite(event);
    const served = await serve(toRequest(event), about, createContext(event));
    const body = await served.response.text();
    log(event, served, Buffer.byteLength(body));
    const type = served.response.headers.get('content-type');
    return answer(
      served.response.status,
      body,
      event.service.id,
      type === null ? {} : { 'content-type': type },
    );
  },
  ({ path }) => [logRequest(path), answerRpcErrors(), readCaller()],
);
