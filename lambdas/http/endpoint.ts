import middy, { type MiddyfiedHandler } from '@middy/core';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type { BodySchema } from '../../core/wire/schema.ts';
import { type Route, routes } from '../../lib/routes.ts';
import { readBody } from './body.ts';
import { authorize, type NamedProject, readCaller } from './caller.ts';
import { answerErrors, timeoutEarlyResponse } from './errors.ts';
import type { ServiceEvent, ServiceRequest } from './event.ts';
import { log } from './log.ts';
import { settings } from './settings.ts';
import { jsonText } from './text.ts';

/** What makes an endpoint, beside what the list of routes says of it. */
export interface Endpoint<Body> {
  /** Its path in the list of routes. */
  readonly path: Route['path'];
  readonly body: BodySchema<Body>;
  /** Every project that the body names; the key must give the route's role on each. */
  readonly projects: (body: Body) => readonly NamedProject[];
}

/**
 * The route of a path.
 *
 * @throws Error where the list has none
 */
export const routeOf = (path: string): Route => {
  const route = routes.find((candidate) => candidate.path === path);
  if (!route) throw new Error(`${path} is not in the list of routes`);
  return route;
};

/** The middlewares of every endpoint, in order: errors → caller → body → authorization. */
export const middlewares = <Body>({ path, body, projects }: Endpoint<Body>) => [
  answerErrors(path, settings.names.service),
  readCaller(),
  readBody(body),
  authorize(routeOf(path).role, projects),
];

/** Logs a request that was answered, with what it took. */
export const logRequest = (
  path: string,
  { id, caller, effort }: ServiceRequest<unknown>,
  fields: Readonly<Record<string, unknown>>,
): void =>
  log('info', {
    requestId: id,
    route: path,
    user: caller.user,
    keyId: caller.keyId,
    ...fields,
    ...effort.meter,
  });

/** Makes the handler of an endpoint whose answer is one JSON value of at most 6 MB. */
export const jsonEndpoint = <Body>(
  endpoint: Endpoint<Body>,
  answer: (request: ServiceRequest<Body>) => Promise<unknown>,
): MiddyfiedHandler<ServiceEvent<Body>, APIGatewayProxyResult> =>
  middy<ServiceEvent<Body>, APIGatewayProxyResult>({ timeoutEarlyResponse })
    .use(middlewares(endpoint))
    .handler(async ({ service: request }) => {
      const begun = performance.now();
      const body = jsonText(await answer(request));
      logRequest(endpoint.path, request, { status: 200, ms: Math.round(performance.now() - begun) });
      return {
        statusCode: 200,
        headers: { 'content-type': 'application/json', 'x-request-id': request.id },
        body,
      };
    });
