import type * as z from 'zod/mini';
import type { AcceptedScheme, Role, Scheme } from '../foundations/auth/index.ts';
import type { ProjectId } from '../foundations/wire/index.ts';
import type { Stores } from './access.ts';

/*
 * What an endpoint is. Its description has everything that the API, the IAM permissions, the
 * bundles, the handler, the local service, the OpenAPI document and the tests must know of it.
 */

/**
 * What a function does with spending limits: `hold` keeps requests within them, `show` tells what is left, and
 * `know` tells whether there are any.
 */
export type LimitsAccess = 'hold' | 'show' | 'know';

/** The settings that say how long functions may take, in seconds. */
export type TimeoutSetting = 'queryTimeoutSeconds' | 'inferenceTimeoutSeconds';

/** How a function answers, and what it is given. */
export interface FunctionShape {
  /**
   * Whether the answer leaves through Lambda response streaming, as every answer that can pass 6 MB
   * does.
   */
  readonly streaming: boolean;
  /**
   * The function's time-out, in seconds. API Gateway waits 29 s for a buffered answer and 15 min
   * for a stream.
   */
  readonly timeoutSeconds: number;
  /** The setting that replaces `timeoutSeconds`, which is its default. @default - none does */
  readonly timeoutSetting?: TimeoutSetting;
  /** The function's memory, in MB. CPU grows with it. */
  readonly memoryMb: number;
}

/*
 * The shapes of functions. A name says what a function does; its time-out and memory follow from that.
 * docs/decisions/0143 explains the memory. Only `oneRecord`, `fewRecords` and `fixed` answer in one
 * piece: they are short, and API Gateway waits 29 s for such an answer. All others stream. `batch` and
 * `oneAnswer` finish in that time as well, but their answer can pass the 6 MB of one piece. `deletion`
 * and `longAnswer` may take longer. `oneAnswer` has half the memory of `batch`.
 */

const whole = { streaming: false } as const;

const streamed = { streaming: true } as const;

/** Writes or changes one record. */
export const oneRecord = { ...whole, timeoutSeconds: 20, memoryMb: 512 } as const satisfies FunctionShape;

/** Deletes some records, one by one. */
export const fewRecords = { ...whole, timeoutSeconds: 25, memoryMb: 512 } as const satisfies FunctionShape;

/** Writes as many records as a request may have. It streams because the answer can pass 6 MB. */
export const batch = { ...streamed, timeoutSeconds: 28, memoryMb: 1024 } as const satisfies FunctionShape;

/** Deletes all that belongs together, however much. It streams because that can take minutes. */
export const deletion = { ...streamed, timeoutSeconds: 300, memoryMb: 1024 } as const satisfies FunctionShape;

/** Answers one question within seconds. It streams because the answer can pass 6 MB. */
export const oneAnswer = { ...streamed, timeoutSeconds: 25, memoryMb: 512 } as const satisfies FunctionShape;

/**
 * Answers for up to five minutes. Lambda goes on, and is paid, when its client has left, so this
 * bounds what an abandoned query can cost. Lambda and API Gateway let a stream last 15 min.
 */
export const longAnswer = {
  ...streamed,
  timeoutSeconds: 300,
  timeoutSetting: 'queryTimeoutSeconds',
  memoryMb: 1024,
} as const satisfies FunctionShape;

/**
 * Passes on the answer of another service, for up to 15 min. It is paid while it waits, so it gets
 * no more memory than it takes.
 */
export const passThrough = {
  ...streamed,
  timeoutSeconds: 900,
  timeoutSetting: 'inferenceTimeoutSeconds',
  memoryMb: 512,
} as const satisfies FunctionShape;

/** Answers a fixed text that is worth compressing. */
export const document = { ...streamed, timeoutSeconds: 5, memoryMb: 256 } as const satisfies FunctionShape;

/** Answers a short fixed text. */
export const fixed = { ...whole, timeoutSeconds: 5, memoryMb: 256 } as const satisfies FunctionShape;

/**
 * Answers a file of the page. It streams, because API Gateway passes the bytes of a stream on as
 * they are, and takes a buffered answer for text.
 */
export const page = { ...streamed, timeoutSeconds: 10, memoryMb: 256 } as const satisfies FunctionShape;

/** A request and its answer. It works on the local service after the examples above it. */
export interface Example {
  readonly summary: string;
  /** Undefined for a GET without fields. */
  readonly body: unknown;
  /** The answer as JSON. Only times, and ids that the service makes, may differ. */
  readonly answer: unknown;
}

/** The groups of operations in the document. */
export const tags = {
  calls: 'Traced executions of operations: reporting, reading, querying and deleting them.',
  statistics: 'Sums, means and percentiles of calls and their usage.',
  traces: 'Who did what in a trace, and what filled the windows of models.',
  opentelemetry: 'Spans of programs that report by OpenTelemetry.',
  threads: 'Conversations, with statistics over their turns.',
  objects: 'Values with names and versions, and what refs lead to.',
  prompts: 'Prompts with versions, and labels that say which version programs get.',
  tables: 'Lists of rows under digests, such as datasets. Versions of one share their rows.',
  files: 'Bytes under their digests, such as attachments.',
  costs: "A project's own prices of models.",
  feedback: 'Feedback on calls, ops and objects.',
  issues: 'What went wrong, grouped by what it has in common.',
  alerts: 'Notifications when a metric crosses a threshold.',
  inference: 'A pass-through for model requests.',
  sharing: 'Traces that anybody may read who has a link.',
  agents: 'What coding agents read traces by.',
  people: 'Members, keys, and the audit trail.',
  projects: 'Whose key a request has, and the projects that it may read.',
  service: 'The service itself, without credentials.',
  weave: "What Weave's SDKs ask beside all this.",
} as const;
export type Tag = keyof typeof tags;

/** What the document says of an operation. Nearly every route has one. */
export interface Operation {
  /**
   * Its name in the style of a type. Its components are `<name>Req` and `<name>Res`, unless their
   * schemas have names of their own.
   */
  readonly name: string;
  readonly summary: string;
  /** In Markdown. */
  readonly description: string;
  /** A more definite path than the route's, which clients need. @default - the route's */
  readonly operationPath?: `/${string}`;
  /** Requests that work one after the other, in the order of the list of routes. */
  readonly examples: Readonly<Record<string, Example>>;
}

/** A project in a request, and its place. */
export interface NamedProject {
  readonly projectId: ProjectId;
  /** The place in the body, e.g. `['start', 'project_id']`, or in the query of a GET. */
  readonly loc: readonly string[];
}

/** What is answered: JSON, records in a format of the client's choice, JSON Lines, or something else. */
export type AnswerForm = 'json' | 'records' | 'lines' | 'upstream' | 'otlp' | 'bytes' | 'rpc' | 'markdown';

/** What every endpoint has. */
interface Common<Path extends `/${string}`> {
  /** The path below the base URL, in API Gateway's resource syntax. */
  readonly path: Path;
  /**
   * The handler's module below `lambdas/endpoints/`, without its extension. @default - the path without its
   * parameters
   */
  readonly handler?: string;
}

/**
 * The parts of a description that say what an endpoint takes and answers. `Sent` is the body as
 * JSON, `Body` what it is parsed into.
 */
interface Contract<Body, Answer, Sent = unknown> {
  readonly tag: Tag;
  /** The schema of the body, made when it is called for; undefined for none. */
  readonly request?: () => z.ZodMiniType<Body, Sent>;
  /** The form of the request. @default 'json' */
  readonly takes?: 'json' | 'form';
  /** The schema of the answer. If the endpoint answers records, of one of them. */
  readonly answer: () => z.ZodMiniType<Answer>;
  /** The form of the answer. @default 'json' */
  readonly form?: AnswerForm;
  /** The statuses of errors that only some endpoints answer. */
  readonly errors?: readonly (404 | 409)[];
  /** Optional headers of a request, with their meaning. */
  readonly headers?: () => Readonly<Record<string, z.ZodMiniType>>;
}

/** What an endpoint is known by wherever all of them are looked at. */
interface AnyRoute extends FunctionShape, Contract<unknown, unknown> {
  readonly path: `/${string}`;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly handler: string;
  /** The stores that the function touches, and how. */
  readonly stores: Stores;
  /**
   * What the function does with the upstreams of the settings: it sends requests on to them, or lists
   * their models. @default - nothing
   */
  readonly upstreams?: 'ask' | 'list';
  /** Whether the function asks for evaluations, if the settings allow any. */
  readonly evaluations?: boolean;
  /** Whether the function asks the one that looks at alerts, if there is one. */
  readonly alerts?: boolean;
  /** What the function does with spending limits, where the settings have them. @default - nothing */
  readonly limits?: LimitsAccess;
  /**
   * Says that GET and HEAD are answered, too, with the fields of the body in the query, and what the
   * document says of that. A method takes two resources of the stack. @default - its method alone
   */
  readonly byGet?: Pick<Operation, 'name' | 'summary' | 'description'>;
  /** Whether the function says which rules of redaction there are, if the settings have any. */
  readonly redaction?: 'show';
  /** Whether the function knows where people sign in, if the settings let them. */
  readonly signIn?: boolean;
  /** The setting that the route is there with. @default - it is always there */
  readonly onlyWith?: 'signIn';
  /** Methods that the function answers with a 405. @default - the gateway answers them with a 404 */
  readonly refuses?: readonly ('GET' | 'DELETE')[];
  readonly operations: readonly Operation[];
}

/** An endpoint that takes a key. Body, query and path say what for. */
export interface KeyedRoute extends AnyRoute {
  /** The HTTP authentication scheme that the route takes, or `any` that the service knows. */
  readonly scheme: AcceptedScheme;
  /**
   * The role that the key's grants must give on each project of a request. The body may ask for
   * `admin` besides.
   */
  readonly role: Role;
}

/**
 * An endpoint about the key of the request itself, which any valid key may ask, and which touches
 * no store, or what limits take alone.
 */
export interface KeyRoute extends AnyRoute {
  readonly method: 'GET' | 'POST';
  readonly scheme: Scheme;
  readonly role?: never;
  readonly stores: Readonly<Record<string, never>>;
  readonly upstreams?: never;
  readonly evaluations?: never;
  readonly alerts?: never;
}

/** An endpoint for everybody, without credentials: a GET that touches no store. */
export interface OpenRoute extends AnyRoute {
  readonly method: 'GET';
  readonly scheme: 'none';
  readonly stores: Readonly<Record<string, never>>;
  readonly upstreams?: never;
  readonly evaluations?: never;
  readonly alerts?: never;
  /** Whether it answers HEAD too, as monitors ask. A method takes two resources of the stack. */
  readonly head?: true;
  /** Whether it serves the page, which is for browsers and no part of the documented API. */
  readonly page?: true;
}

/**
 * An endpoint for whoever has a link: a POST without credentials, whose body has the link's secret. It reads
 * what the link shows, and nothing else.
 */
export interface LinkRoute extends AnyRoute {
  readonly method: 'POST';
  readonly scheme: 'none';
  readonly byLink: true;
  readonly role?: never;
  readonly upstreams?: never;
  readonly evaluations?: never;
  readonly alerts?: never;
  readonly head?: never;
}

/** An endpoint: for keys with a role, for any key, for everybody, or for whoever has a link. */
export type Route = KeyedRoute | KeyRoute | OpenRoute | LinkRoute;

/** Whether a route takes a key, and says what for. */
export const isKeyed = (route: Route): route is KeyedRoute => 'role' in route;

/** Whether a route takes the secret of a link in the place of a key. */
export const isByLink = (route: Route): route is LinkRoute => 'byLink' in route;

/** The part of a throttle of routes without a key that those by a link have: what they answer is longer. */
export const linkShare = (throttle: number): number => Math.max(1, Math.floor(throttle / 10));

export const takesKey = (route: Route): route is KeyedRoute | KeyRoute => route.scheme !== 'none';

export const getMethods = (route: Route): readonly string[] => {
  if (!takesKey(route) && route.head) return [route.method, 'HEAD'];
  return [route.method, ...(route.byGet ? ['GET', 'HEAD'] : []), ...(route.refuses ?? [])];
};

/** What pages read of what programs report. */
const reported: ReadonlySet<Tag> = new Set(['calls', 'threads', 'feedback']);

/**
 * Whether pages of other origins may send requests to a route, where the setting `corsOrigins` lists them:
 * to report calls and feedback, and to read them. A stack has no room for a second method on every path.
 */
export const isForPages = (route: Route): boolean => {
  if (!isKeyed(route)) return false;
  const { tag, role, stores } = route;
  const reports = tag === 'opentelemetry' || stores.calls === 'write' || stores.feedback === 'create';
  return tag !== 'weave' && (reports || (role === 'read' && reported.has(tag)));
};

/** Whether a route serves the page, and is no part of the documented API. */
export const isPage = (route: Route): boolean => 'page' in route && route.page === true;

/** The handlers of routes, which may share one. */
export const getHandlers = (routes: readonly Route[]): string[] => [
  ...new Set(routes.map(({ handler }) => handler)),
];

/** An endpoint's handler: the fixed segments of its path. */
const toHandler = (path: string): string =>
  path
    .split('/')
    .filter((segment) => segment !== '' && !segment.startsWith('{'))
    .join('/');

type Typed<Route, Path, Body, Answer, Sent> = Omit<Route, 'path' | keyof Contract<Body, Answer>> &
  Contract<Body, Answer, Sent> & { readonly path: Path };

/** The description of an endpoint that takes a key with a role. */
export type Endpoint<
  Body = unknown,
  Answer = unknown,
  Path extends `/${string}` = `/${string}`,
  Sent = unknown,
> = Typed<KeyedRoute, Path, Body, Answer, Sent> & {
  /** Every project that the body names. The key must give the role on each. */
  readonly projects: (body: Body) => readonly NamedProject[];
};

/** The description of an endpoint about the key of a request. */
export type KeyEndpoint<
  Body = unknown,
  Answer = unknown,
  Path extends `/${string}` = `/${string}`,
  Sent = unknown,
> = Typed<KeyRoute, Path, Body, Answer, Sent>;

/** The description of an endpoint for everybody. */
export type OpenEndpoint<Answer = unknown, Path extends `/${string}` = `/${string}`> = Typed<
  OpenRoute,
  Path,
  never,
  Answer,
  unknown
>;

/** The description of an endpoint for whoever has a link. */
export type LinkEndpoint<
  Body = unknown,
  Answer = unknown,
  Path extends `/${string}` = `/${string}`,
  Sent = unknown,
> = Typed<LinkRoute, Path, Body, Answer, Sent>;

/** The body that an endpoint takes, as JSON. */
export type RequestOf<E> = E extends { readonly request?: () => z.ZodMiniType<unknown, infer Sent> }
  ? Sent
  : never;

/** What an endpoint answers; if it answers records, one of them. */
export type AnswerOf<E> = E extends { readonly answer: () => z.ZodMiniType<infer Answer> } ? Answer : never;

/**
 * The schema of what an endpoint takes.
 *
 * @throws Error if it takes nothing
 */
export const getBodySchema = <Body>({
  path,
  request,
}: Pick<Endpoint<Body>, 'path' | 'request'>): z.ZodMiniType<Body> => {
  if (!request) throw new Error(`${path} takes no body`);
  return request();
};

/** What the document says of an endpoint: one operation, or several of which each has a path. */
type Documented = Operation | { readonly operations: readonly Operation[] };

const operationsIn = (described: Documented): readonly Operation[] => {
  if ('operations' in described) return described.operations;
  const { name, summary, description, examples } = described;
  return [{ name, summary, description, examples }];
};

/** A body with its project at the top, as nearly all are. */
interface OfProject {
  readonly projectId: ProjectId;
}

type ProjectsOf<Body> = Body extends OfProject
  ? { readonly projects?: Endpoint<Body>['projects'] }
  : { readonly projects: Endpoint<Body>['projects'] };

const projectAtTop = (body: unknown): readonly NamedProject[] => [
  { projectId: (body as OfProject).projectId, loc: ['project_id'] },
];

/**
 * Describes an endpoint that takes a key: unless it says otherwise a POST that reads, with basic
 * authentication and with `project_id` at the top of its body. Its call is
 * marked as pure, so that a bundle brings only the descriptions that it uses.
 */
export const endpoint = <const Path extends `/${string}`, Body, Answer, Sent>(
  described: Common<Path> &
    Contract<Body, Answer, Sent> &
    Documented &
    Partial<
      Pick<
        KeyedRoute,
        | 'method'
        | 'scheme'
        | 'role'
        | 'upstreams'
        | 'evaluations'
        | 'alerts'
        | 'limits'
        | 'signIn'
        | 'refuses'
        | 'byGet'
      >
    > &
    Pick<KeyedRoute, 'stores'> &
    ProjectsOf<Body> & { readonly shape: FunctionShape },
): Endpoint<Body, Answer, Path, Sent> => ({
  method: 'POST',
  scheme: 'basic',
  role: 'read',
  handler: toHandler(described.path),
  projects: projectAtTop,
  ...described.shape,
  ...described,
  operations: operationsIn(described),
});

/**
 * Describes an endpoint about the key of a request.
 */
export const keyEndpoint = <const Path extends `/${string}`, Body, Answer, Sent>(
  described: Common<Path> &
    Contract<Body, Answer, Sent> &
    Operation & { readonly method?: 'GET' | 'POST' } & Pick<KeyRoute, 'limits' | 'redaction'>,
): KeyEndpoint<Body, Answer, Path, Sent> => ({
  method: 'GET',
  scheme: 'basic',
  stores: {},
  handler: toHandler(described.path),
  ...fixed,
  ...described,
  operations: operationsIn(described),
});

/**
 * Describes an endpoint for everybody.
 */
export const openEndpoint = <const Path extends `/${string}`, Answer>(
  described: Common<Path> &
    Contract<never, Answer> &
    Operation &
    Pick<OpenRoute, 'signIn' | 'onlyWith' | 'head'> & { readonly shape: FunctionShape },
): OpenEndpoint<Answer, Path> => ({
  method: 'GET',
  scheme: 'none',
  stores: {},
  handler: toHandler(described.path),
  ...described.shape,
  ...described,
  operations: operationsIn(described),
});

/**
 * Describes an endpoint for whoever has a link.
 */
export const linkEndpoint = <const Path extends `/${string}`, Body, Answer, Sent>(
  described: Common<Path> &
    Contract<Body, Answer, Sent> &
    Operation &
    Pick<LinkRoute, 'stores'> & { readonly shape: FunctionShape },
): LinkEndpoint<Body, Answer, Path, Sent> => ({
  method: 'POST',
  scheme: 'none',
  byLink: true,
  handler: toHandler(described.path),
  ...described.shape,
  ...described,
  operations: operationsIn(described),
});
