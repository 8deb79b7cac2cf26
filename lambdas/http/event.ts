import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { Caller } from '../../core/foundations/auth/index.ts';
import { type RequestBudget, requestBudget } from '../../core/foundations/storage/index.ts';
import type { RequestLog } from '../log/index.ts';

/** What the middlewares find out about a request before its handler runs. */
export interface ServiceRequest<Body> {
  /** API Gateway's id of the request. */
  readonly id: string;
  readonly caller: Caller;
  readonly body: Body;
  readonly budget: RequestBudget;
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
