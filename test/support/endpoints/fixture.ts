import type { KeyedRoute, Route } from '../../../api/endpoint.ts';
import type { DocumentedRoute } from '../../../api/routes.ts';
import type { Sent } from '../service/in-process.ts';
import type { Scenario, Use } from './scenario.ts';

/** A path of the documented API that takes a key with a role. */
export type KeyedPath = Extract<DocumentedRoute, Pick<KeyedRoute, 'role'>>['path'];

/**
 * What things of a project are called: those of a project that has one of everything, or nothing.
 * They are of one length each, so that answers about both can be compared byte by byte.
 */
export type Names = Readonly<
  Record<
    | 'call'
    | 'child'
    | 'trace'
    | 'thread'
    | 'feedback'
    | 'object'
    | 'price'
    | 'digest'
    | 'alias'
    | 'file'
    | 'table'
    | 'row',
    string
  >
>;

/** Makes the body of a request about a project from the names of what is asked for. */
type MakeBody = (project: string, names: Names) => object;

/** What the tests that go over all routes need to know of one. */
export interface Fixture {
  /**
   * What its function may do to the stores: actions on a table, one of its indexes, the bucket, or
   * its objects below a prefix. Written out by hand and not made of api/access.ts: whoever
   * gives a function more says so here, too.
   */
  readonly permitted: readonly string[];
  /** The permissions that requests seldom or never use, with why they are needed all the same. */
  readonly seldom?: Readonly<Record<string, string>>;
  /**
   * The body of a good request; a GET has none. If it names something that another tenant has,
   * isolation is tested with it.
   */
  readonly body?: MakeBody;
  /** Where the request goes. @default - the path of the route */
  readonly path?: (project: string, names: Names) => string;
  readonly headers?: (project: string) => Readonly<Record<string, string>>;
  /** The status of the answer; 404 if what the request names has to exist. @default 200 */
  readonly status?: number;
  /**
   * The answer if there is nothing by the names of the request. Times in it are `<time>`.
   * @default - any text, for a route that answers what there is in its project
   */
  readonly answer?: string;
  /** Whether no request to the route can name anything of another tenant but its project. */
  readonly namesNothing?: true;
  /** Where the request names its project, as a refusal says. @default ['body', 'project_id'] */
  readonly projectAt?: readonly string[];
  /** The message of a refusal. @default - that the key may not read or write the project */
  readonly refusal?: string;
  /** Whether a refusal is a result with the status 200, as one of a tool is. */
  readonly refusedInside?: true;
  /** Further bodies that name what another tenant has, by what they name. */
  readonly probes?: Readonly<Record<string, MakeBody>>;
  /**
   * Requests that between them make every kind of storage request that the route can make. The last
   * one makes the most kinds. @default - its good request, to a project that has one of everything
   */
  readonly scenarios?: readonly Scenario[];
  /** What uses the permissions that the scenarios do not, for the test of least privilege. @default - none */
  readonly uses?: readonly Use[];
}

/** A route's request about a project. */
export const requestTo = (
  { path, method }: Pick<Route, 'path' | 'method'>,
  fixture: Fixture,
  project: string,
  names: Names,
  body = fixture.body,
): Sent => ({
  path: fixture.path?.(project, names) ?? path,
  ...(method !== 'POST' && { method }),
  body: body?.(project, names) ?? {},
  headers: fixture.headers?.(project) ?? {},
});

/** Times of the first minute of the day that requests are about. */
export const at = (second: number): string => `2026-10-01T00:00:${String(second).padStart(2, '0')}Z`;

export const where = (field: string, value: string) => ({
  $expr: { $eq: [{ $getField: field }, { $literal: value }] },
});
export const byId = (...ids: readonly string[]) => ({
  $expr: { $or: ids.map((id) => ({ $eq: [{ $getField: 'id' }, { $literal: id }] })) },
});
export const callRef = (project: string, id: string): string => `svc:///${project}/call/${id}`;
export const objectRef = (project: string, id: string, version: string): string =>
  `svc:///${project}/object/${id}:${version}`;

/** The start of a call. */
export const makeStart = (project: string, id: string, fields: object = {}) => ({
  project_id: project,
  id,
  op_name: 'op',
  started_at: at(0),
  ...fields,
});

/** A feedback record. */
export const makeFeedback = (project: string, fields: object = {}) => ({
  project_id: project,
  svc_ref: callRef(project, 'c'),
  feedback_type: 'note',
  payload: { text: 'secret' },
  ...fields,
});

export const price = { prompt_token_cost: 1, completion_token_cost: 2, effective_date: at(0) };

/** All that a query of calls can add to them. */
export const everyInclude = {
  include_costs: true,
  include_feedback: true,
  include_storage_size: true,
  include_total_storage_size: true,
};

/** The body of a 404. */
export const missing = (loc: string, msg: string): { readonly status: number; readonly answer: string } => ({
  status: 404,
  answer: JSON.stringify({ detail: [{ loc: ['body', loc], msg, type: 'not_found' }] }),
});
