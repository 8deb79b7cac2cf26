import type { AnswerOf, RequestOf } from '../../api/endpoint.ts';
import type { DocumentedRoute, RoutePath } from '../../api/routes.ts';

/*
 * The types of the API, from the descriptions of its endpoints. Only types may come from there:
 * what the descriptions do is for Node.
 */

type RouteOf<Path extends RoutePath> = Extract<DocumentedRoute, { readonly path: Path }>;

/** The routes that answer records. Asked for JSON, they answer a list of them. */
type RecordsPath = '/calls/stream_query' | '/threads/stream_query';

/** An endpoint of the API, by its path. Those without a body are asked with GET. */
export type ApiPath = RoutePath;

/** The body that an endpoint takes. */
export type Request<Path extends ApiPath> = RequestOf<RouteOf<Path>>;

/** What an endpoint answers. */
export type Answer<Path extends ApiPath> = Path extends RecordsPath
  ? AnswerOf<RouteOf<Path>>[]
  : AnswerOf<RouteOf<Path>>;

export type Me = Answer<'/me'>;

/** A whole call. */
export type Call = NonNullable<Answer<'/call/read'>['call']>;
/** A call with the columns that were asked for. */
export type CallRow = Answer<'/calls/stream_query'>[number];
/** A query over calls, with an expression in a form that the page can go on writing. */
export type CallsQuery = Omit<Request<'/calls/stream_query'>, 'query'> & {
  readonly query?: { readonly $expr: Operation } | null;
};
export type CallFeedback = NonNullable<Call['summary']['svc']['feedback']>[number];

/** A stored record of feedback, as far as it is asked for. */
export type FeedbackRecord = Answer<'/feedback/query'>['result'][number];

export type StatsQuery = Request<'/calls/stats'>;
export type Stats = Answer<'/calls/stats'>;
/** The counts of a bucket of time, by metric. */
export type StatsBucket = Stats['call_buckets'][number];

export type Thread = Answer<'/threads/stream_query'>[number];
export type ObjectVersion = Answer<'/obj/read'>['obj'];
/** A stored price of a model. */
export type Price = Answer<'/cost/query'>['results'][number];
/** What a new price says. */
export type PriceTerms = Request<'/cost/create'>['costs'][string];

/** An operation of the query language, of those that the page writes. */
export type Operation =
  | { readonly $and: readonly Operation[] }
  | { readonly $or: readonly Operation[] }
  | { readonly $not: readonly [Operation] }
  | Readonly<Partial<Record<'$eq' | '$ne' | '$gt' | '$gte' | '$lt' | '$lte', readonly Operation[]>>>
  | { readonly $in: readonly [Operation, readonly Operation[]] }
  | {
      readonly $contains: {
        readonly input: Operation;
        readonly substr: Operation;
        readonly case_insensitive?: boolean;
      };
    }
  | {
      readonly $convert: {
        readonly input: Operation;
        readonly to: 'double' | 'int' | 'string' | 'bool' | 'exists';
      };
    }
  | { readonly $getField: string }
  | { readonly $literal: unknown };
