import middy from '@middy/core';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { peopleRoutes } from '../../api/people.ts';
import { notFound } from '../../foundations/wire/index.ts';
import { type Head, overStream, type StreamEvent, streaming, type Work } from '../common/http/endpoint.ts';
import { answerErrors, logRequest } from '../common/http/request.ts';

/*
 * Members, keys and the audit trail: seldom asked for, so one function has all of it, and loads what it is asked for.
 */

type Path = (typeof peopleRoutes)[number]['path'];
type Answerer = (event: StreamEvent<unknown>, context: Context) => Promise<Head>;

const to =
  <Body, Answer>(load: () => Promise<{ readonly handler: Work<Body, Answer> }>) =>
  async (): Promise<Answerer> => {
    const { description, handle } = (await load()).handler;
    return streaming(description, handle) as Answerer;
  };

const leads: Readonly<Record<Path, () => Promise<Answerer>>> = {
  '/members/query': to(() => import('./members/query.ts')),
  '/members/set': to(() => import('./members/set.ts')),
  '/members/remove': to(() => import('./members/remove.ts')),
  '/keys/create': to(() => import('./keys/create.ts')),
  '/keys/query': to(() => import('./keys/query.ts')),
  '/keys/revoke': to(() => import('./keys/revoke.ts')),
  '/audit/query': to(() => import('./audit/query.ts')),
};

const isPath = (resource: string): resource is Path => Object.hasOwn(leads, resource);

const noRoute = middy<StreamEvent<unknown>, never>()
  .use([logRequest('unknown'), answerErrors()])
  .handler(() => {
    throw notFound(['path'], 'no such route');
  });

/** What answers each path that was asked for. */
const answerers = new Map<Path, Promise<Answerer>>();

const getAnswerer = ({ resource }: APIGatewayProxyEvent): Answerer | Promise<Answerer> => {
  if (!isPath(resource)) return noRoute;
  const made = answerers.get(resource) ?? leads[resource]();
  answerers.set(resource, made);
  return made;
};

export const handler = overStream<unknown>(async (event, context) =>
  (await getAnswerer(event))(event, context),
);
