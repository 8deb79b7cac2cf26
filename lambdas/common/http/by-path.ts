import middy from '@middy/core';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { notFound } from '../../../foundations/wire/index.ts';
import { type Head, overStream, type StreamEvent, streaming, type Work } from './endpoint.ts';
import { answerErrors, logRequest } from './request.ts';

/*
 * One function for several endpoints, since a stack has no room for one each. Each is loaded when somebody
 * asks for it, so that a start loads one.
 */

type Answerer = (event: StreamEvent<unknown>, context: Context) => Promise<Head>;

/** What makes the answerer of a path, once it is asked for. */
type Lead = () => Promise<Answerer>;

/** Leads to the handler of an endpoint. */
export const to =
  <Body, Answer>(load: () => Promise<{ readonly handler: Work<Body, Answer> }>): Lead =>
  async () => {
    const { description, handle } = (await load()).handler;
    return streaming(description, handle) as Answerer;
  };

const noRoute = middy<StreamEvent<unknown>, never>()
  .use([logRequest('unknown'), answerErrors()])
  .handler(() => {
    throw notFound(['path'], 'no such route');
  });

/** Makes the handler of a function for several endpoints, by their paths. */
export const byPath = <Path extends string>(leads: Readonly<Record<Path, Lead>>) => {
  /** What answers each path that was asked for. */
  const answerers = new Map<Path, Promise<Answerer>>();
  const isPath = (resource: string): resource is Path => Object.hasOwn(leads, resource);
  const getAnswerer = ({ resource }: APIGatewayProxyEvent): Answerer | Promise<Answerer> => {
    if (!isPath(resource)) return noRoute;
    const made = answerers.get(resource) ?? leads[resource]();
    answerers.set(resource, made);
    return made;
  };
  return overStream<unknown>(async (event, context) => (await getAnswerer(event))(event, context));
};
