import type * as z from 'zod/mini';
import type { TakenRequest } from '../api/requests.ts';
import type { RoutePath } from '../api/routes.ts';
import type { WireNames } from '../core/foundations/wire/index.ts';

/** The groups of operations. */
export type Tag =
  | 'calls'
  | 'statistics'
  | 'opentelemetry'
  | 'threads'
  | 'objects'
  | 'costs'
  | 'feedback'
  | 'inference'
  | 'projects'
  | 'service'
  | 'weave';

/** A request and its answer. It works on the local service after the examples above it. */
export interface Example {
  readonly summary: string;
  readonly body: unknown;
  /** The answer as JSON. Only times, and ids that the service makes, may differ. */
  readonly answer: unknown;
}

/** What the document says of an operation, beside its entry in the list of routes. */
export interface Operation<Path extends RoutePath = RoutePath> {
  /**
   * Its name in the style of a type. Its components are `<name>Req` and `<name>Res`, unless their
   * schemas have names of their own.
   */
  readonly name: string;
  readonly tag: Tag;
  /**
   * Its path in the document, if clients need a more definite one than the route's. @default - the
   * route's
   */
  readonly path?: `/${string}`;
  readonly summary: string;
  /** In Markdown. */
  readonly description: string;
  /** The request that its handler parses; undefined for a GET and for OTLP. */
  readonly request?: (names: WireNames) => TakenRequest<unknown, Path>;
  /** Its answer. If it answers records, this is one of them. */
  readonly answer: z.ZodMiniType;
  /** The form of the answer. @default 'json' */
  readonly form?: 'json' | 'records' | 'upstream' | 'otlp' | 'bytes';
  /** The form of the request. @default 'json' */
  readonly takes?: 'json' | 'form';
  /** The statuses of errors that only some operations have. */
  readonly errors?: readonly (404 | 409)[];
  /** Optional headers of a request, with their meaning. */
  readonly headers?: Readonly<
    Record<string, { readonly schema: z.ZodMiniType; readonly description: string }>
  >;
  /** Requests that work one after the other. */
  readonly examples: Readonly<Record<string, Example>>;
}

/** What the document says of each route. A route without an entry does not compile. */
export type Operations = { readonly [Path in RoutePath]: readonly Operation<Path>[] };
