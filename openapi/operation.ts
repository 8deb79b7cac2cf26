import type * as z from 'zod/mini';
import type { TakenRequest } from '../api/requests.ts';
import type { RoutePath } from '../api/routes.ts';
import type { WireNames } from '../core/wire/index.ts';

/** What operations are grouped by. */
export type Tag = 'calls' | 'threads' | 'objects' | 'costs' | 'feedback' | 'inference' | 'service';

/**
 * A request that works on the local service once those above it were made, and what is answered to
 * it.
 */
export interface Example {
  readonly summary: string;
  readonly body: unknown;
  /**
   * The answer as JSON, for one that is the same each time but for times and ids that the service
   * makes.
   */
  readonly answer: unknown;
}

/** What the document says of one operation, beside what the list of routes says of its route. */
export interface Operation<Path extends RoutePath = RoutePath> {
  /**
   * Its name in the style of a type; its components are `<name>Req` and `<name>Res`, unless their
   * schemas have names of their own.
   */
  readonly name: string;
  readonly tag: Tag;
  /**
   * Its path in the document, where a client needs a more definite one than the route's. @default -
   * the route's
   */
  readonly path?: `/${string}`;
  readonly summary: string;
  /** In Markdown. */
  readonly description: string;
  /** What it takes: what its handler parses with. Undefined for a GET. */
  readonly request?: (names: WireNames) => TakenRequest<unknown, Path>;
  /** Its answer, or, of an operation that answers records, one of them. */
  readonly answer: z.ZodMiniType;
  /** What the answer is written as. @default 'json' */
  readonly form?: 'json' | 'records' | 'upstream';
  /** The statuses of errors that not every operation has. */
  readonly errors?: readonly (404 | 409)[];
  /** Headers that a request may have, with their meaning. */
  readonly headers?: Readonly<
    Record<string, { readonly schema: z.ZodMiniType; readonly description: string }>
  >;
  /** In an order that works. */
  readonly examples: Readonly<Record<string, Example>>;
}

/** What the document says of each route. One that has no entry does not compile. */
export type Operations = { readonly [Path in RoutePath]: readonly Operation<Path>[] };
