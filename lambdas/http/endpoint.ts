import middy, { type MiddyfiedHandler } from '@middy/core';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type { TakenRequest } from '../../api/requests.ts';
import { allRoutes, isKeyed, type KeyedRoute } from '../../api/routes.ts';
import { authorize, type NamedProject, readCaller } from './caller.ts';
import { answerErrors, timeoutEarlyResponse } from './errors.ts';
import type { ServiceEvent, ServiceRequest } from './event.ts';
import { logRequest } from './log.ts';
import { noteProjects } from './note-projects.ts';
import { readRequest } from './request.ts';
import { settings } from './settings.ts';
import { jsonText } from './text.ts';

/** What makes an endpoint, beside its entry in the list of routes. */
export interface Endpoint<Body> extends TakenRequest<Body> {
  /** What reads the request. @default - readRequest, which takes JSON */
  readonly reader?: typeof readRequest;
  /** Every project that the body names. The key must give the route's role on each. */
  readonly projects: (body: Body) => readonly NamedProject[];
}

/**
 * The route of a path that takes a key.
 *
 * @throws Error if the list has none
 */
export const routeOf = (path: string): KeyedRoute => {
  const route = allRoutes.filter(isKeyed).find((candidate) => candidate.path === path);
  if (!route) throw new Error(`${path} is not in the list of routes`);
  return route;
};

/**
 * The middlewares of every endpoint, in order: log → errors → caller → request → authorization →
 * note of the projects, if the route makes one.
 */
export const middlewares = <Body>({ path, body, projects, reader = readRequest }: Endpoint<Body>) => [
  logRequest(path),
  answerErrors(settings.names.service),
  readCaller(),
  reader(body, settings.names.dialect),
  authorize(routeOf(path).role, projects),
  ...(routeOf(path).stores.rollups === 'note' ? [noteProjects(projects)] : []),
];

/** An endpoint whose answer is one JSON value. */
export interface JsonEndpoint<Body, Answer> extends Endpoint<Body> {
  /** How many records were written or deleted, for the log. @default 1 */
  readonly rows?: (body: Body, answer: Answer) => number;
}

/** Makes the handler of an endpoint whose answer is one JSON value of at most 6 MB. */
export const jsonEndpoint = <Body, Answer>(
  endpoint: JsonEndpoint<Body, Answer>,
  answer: (request: ServiceRequest<Body>) => Promise<Answer>,
): MiddyfiedHandler<ServiceEvent<Body>, APIGatewayProxyResult> =>
  middy<ServiceEvent<Body>, APIGatewayProxyResult>({ timeoutEarlyResponse })
    .use(middlewares(endpoint))
    .handler(async ({ service: request, log }) => {
      const answered = await answer(request);
      const body = jsonText(answered);
      const rows = endpoint.rows?.(request.body, answered) ?? 1;
      log.describes(() => ({ status: 200, rows, bytes: Buffer.byteLength(body) }));
      log.ends('answered');
      return {
        statusCode: 200,
        headers: { 'content-type': 'application/json', 'x-request-id': request.id },
        body,
      };
    });
