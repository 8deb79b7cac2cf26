import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import type { Context } from 'aws-lambda';
import type { Caller } from '../../../foundations/auth/index.ts';
import { type Meter, newMeter } from '../../../foundations/storage/index.ts';
import { type ErrorDetail, ServiceError } from '../../../foundations/wire/index.ts';

/** How a request ended, or what the authorizer made of its key. */
type Outcome = 'answered' | 'refused' | 'failed' | 'broken' | 'timed_out' | 'gone' | 'allowed';

/**
 * One problem of a refused request: its kind and its place. A `*` stands for any step that the
 * client chose.
 */
interface LoggedProblem {
  readonly type: string;
  readonly loc: string;
}

interface LoggedError {
  readonly name: string;
  readonly message: string;
  /** The frames alone, without the message. */
  readonly stack?: string;
  readonly cause?: LoggedError;
}

/**
 * The fields of a log line, in order; docs/operations.md explains them to operators. Times are in
 * milliseconds, sizes in bytes, units DynamoDB's. No field ever holds a key or a header's value. Of
 * a body they hold the projects alone.
 */
interface LineFields {
  readonly level: 'info' | 'warn' | 'error';
  /**
   * What the line is about: a request, the look-up of a key, a batch of records of tables' streams, one
   * of messages of a queue, or a look at alerts. A request has one line by its function, a look-up one by
   * the authorizer.
   */
  readonly message: 'request' | 'authorizer' | 'stream' | 'queue' | 'alerts';
  /** API Gateway's, the client's `x-request-id`. The access log and the authorizer have it too. */
  readonly requestId: string;
  /** Lambda's. The lines that Lambda writes itself begin with it. */
  readonly lambdaRequestId: string;
  /** X-Ray's, if the request has one. */
  readonly traceId?: string;
  /** Whether it is the first request of its container. */
  readonly coldStart: boolean;
  readonly route: string;
  readonly outcome: Outcome;
  /** Why the authorizer refused or failed, or why not all of an export was kept. */
  readonly reason?: string;
  /** How many spans, log records or data points of an export were not kept. */
  readonly dropped?: number;
  /** The answer's. A stream that broke off has sent its status before. */
  readonly status?: number;
  readonly user?: string;
  readonly keyId?: string;
  /** The first ten projects that the body names, each once. */
  readonly projects?: readonly string[];
  /** How many projects the body names, if more than ten. */
  readonly projectCount?: number;
  /** The fields of the request that the service does not know, in Weave's dialect. */
  readonly passedOver?: readonly string[];
  /** How a query was answered. */
  readonly plan?: object;
  /** Records that were written or answered. */
  readonly rows: number;
  /** Records that a query looked at. */
  readonly scanned?: number;
  /** Records whose payloads a query read. */
  readonly hydrated?: number;
  /** Rollups that statistics or a count used. */
  readonly rollups?: number;
  /** Days of which a query knew which calls come first. */
  readonly days?: number;
  /** The answer's body, before it is compressed. */
  readonly bytes: number;
  /** From the function's start with the request until its answer was written or given up. */
  readonly ms: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Requests to storage. */
  readonly requests: number;
  /** How many of these storage throttled, or did in part only. */
  readonly throttled: number;
  /** 1 if the service is to blame, else 0: a sum counts failures. */
  readonly failed: 0 | 1;
  /** Which upstream a model request went to. */
  readonly upstream?: string;
  /** How many upstreams were asked for it; that one was the last. */
  readonly attempts?: number;
  /** What was wrong with a refused request: the first ten problems. */
  readonly errors?: readonly LoggedProblem[];
  /** What went wrong on the service's side, or what the caller's own time-out cut off. */
  readonly error?: LoggedError;
  /** Why a model request was answered but not recorded. */
  readonly recordError?: LoggedError;
}

/** The fields that become metrics of a route that has them, and their units. */
const metrics = {
  ms: 'Milliseconds',
  failed: 'Count',
  throttled: 'Count',
  rows: 'Count',
  readUnits: 'Count',
  writeUnits: 'Count',
} as const satisfies Partial<Record<keyof LineFields, string>>;

/** The part of a log line that makes CloudWatch take metrics from it. */
interface MetricsNote {
  readonly _aws: {
    /** Milliseconds since 1970. */
    readonly Timestamp: number;
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[];
    }[];
  };
}

/**
 * Has CloudWatch take some fields of a log line as metrics of its route, in the embedded metric
 * format
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html).
 * Each is a custom metric, and paid for as such.
 *
 * @param timestamp milliseconds since 1970
 */
const metricsNote = (namespace: string, timestamp: number): MetricsNote => ({
  _aws: {
    Timestamp: timestamp,
    CloudWatchMetrics: [
      {
        Namespace: namespace,
        Dimensions: [['route']],
        Metrics: Object.entries(metrics).map(([Name, Unit]) => ({ Name, Unit })),
      },
    ],
  },
});

/** A place in a bundle as V8 writes it into a stack trace: file, line and column, from 1. */
const place = /((?:\/[^\s():]+)+\.cjs):(\d+):(\d+)/g;

const readMap = (file: string): SourceMap | undefined => {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  } catch {
    return undefined;
  }
};

const maps = new Map<string, SourceMap | undefined>();

const getSourceMap = (file: string): SourceMap | undefined => {
  if (!maps.has(file)) maps.set(file, readMap(file));
  return maps.get(file);
};

/**
 * Replaces the places in bundles by those in the sources, if a map lies beside the bundle. Node's
 * `--enable-source-maps` does this too, but reads every map when a container starts. That takes
 * longer than all uses of the maps together.
 *
 * @param stack an error's `stack`
 */
export const inSources = (stack: string): string =>
  stack.replace(place, (bundled: string, file: string, line: string, column: string) => {
    const origin = getSourceMap(file)?.findOrigin(Number(line), Number(column));
    return origin && 'fileName' in origin
      ? `${origin.fileName.replace(/^(?:\.\.\/)+/, '')}:${origin.lineNumber}:${origin.columnNumber}`
      : bundled;
  });

const maxProblems = 10;

/** Stands for a step that the client chose. */
const chosen = '*';

const isIndex = (step: string): boolean => /^\d+$/.test(step);
const isName = (step: string): boolean => /^\$?[A-Za-z][\w-]{0,40}$/.test(step);

/** Whether a step of a problem's place is a key of the client's own, which may be anything. */
const isChosen = ({ loc, type }: ErrorDetail, at: number): boolean => {
  const step = loc[at] ?? '';
  if (isIndex(step)) return false;
  const isLast = at === loc.length - 1;
  if (isLast && type === 'extra_forbidden') return true;
  // An unknown operator. Known ones have problems of other types, or below them.
  if (isLast && type === 'value_error' && loc.includes('$expr') && step !== '$getField') return true;
  // Prices are by model, and headers for an upstream may have any name.
  return ['costs', 'extra_headers'].includes(loc[at - 1] ?? '') || !isName(step);
};

/**
 * The problems of a request, by kind and place. Messages stay out, as do steps that the client
 * chose: they can quote the body.
 */
export const toProblems = (details: readonly ErrorDetail[]): LoggedProblem[] =>
  details.slice(0, maxProblems).map((detail) => ({
    type: detail.type,
    loc: detail.loc.map((step, at) => (isChosen(detail, at) ? chosen : step)).join('.'),
  }));

const maxCauses = 5;

/** V8 quotes the text that it could not parse. */
const toMessage = (error: Error): string =>
  error instanceof SyntaxError ? 'some text does not parse' : error.message;

/** A cause can be a text of this service's own. Anything else that was thrown may hold anything. */
const nameless = (cause: unknown, depth: number): LoggedError => ({
  name: 'unknown',
  message: depth > 0 && typeof cause === 'string' ? cause : typeof cause,
});

/**
 * An error's name, message and frames, and those of its causes. Its other properties stay out: they
 * may hold a request or an item.
 */
export const toLoggedError = (error: unknown, depth = 0): LoggedError => {
  if (!(error instanceof Error)) return nameless(error, depth);
  const frames = error.stack?.match(/^ {4}at .*$/gm)?.join('\n');
  return {
    name: error.name,
    message: toMessage(error),
    ...(frames && { stack: inSources(frames) }),
    ...(error.cause !== undefined && depth < maxCauses && { cause: toLoggedError(error.cause, depth + 1) }),
  };
};

/** What an endpoint tells the log of its answer. */
export type Details = Partial<
  Pick<
    LineFields,
    | 'plan'
    | 'rows'
    | 'scanned'
    | 'hydrated'
    | 'rollups'
    | 'days'
    | 'upstream'
    | 'attempts'
    | 'bytes'
    | 'status'
    | 'reason'
    | 'dropped'
  >
>;

/** What the line is about. */
type Subject = Pick<LineFields, 'message' | 'requestId' | 'route'>;

/** How and when a request ended. */
interface End {
  readonly outcome: Outcome;
  readonly ms: number;
  readonly error: unknown;
}

const maxProjects = 10;
const maxPassedOver = 10;
const fieldName = /^[a-z][a-z0-9_.*]{0,99}$/;

/** Whether the container has served nothing yet. */
let cold = true;

const isColdStart = (): boolean => {
  const first = cold;
  cold = false;
  return first;
};

/** The id of the request's trace, from Lambda's environment: `Root=1-…;Parent=…;Sampled=1`. */
const traceId = (): string | undefined => /Root=([^;]+)/.exec(process.env._X_AMZN_TRACE_ID ?? '')?.[1];

/**
 * Writes one line to the function's log. console.log would add Lambda's prefix, and the line would
 * not be JSON.
 */
const write = (line: object): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

/** Writes a line about a failure that no request is refused for. */
export const logFailure = (message: 'audit' | 'labels' | 'limits', error: unknown): void =>
  write({ level: 'error', message, failed: 1, error: toLoggedError(error) });

/**
 * The log line of one request. It is put together during the request, and written once the end is
 * known and nobody {@link hold}s it.
 */
export class RequestLog {
  readonly #startedMs = performance.now();
  readonly #head: Pick<LineFields, 'lambdaRequestId' | 'coldStart' | 'traceId'> & Subject;
  #caller: Pick<LineFields, 'user' | 'keyId'> = {};
  #projects: Pick<LineFields, 'projects' | 'projectCount'> = {};
  #passedOver: Pick<LineFields, 'passedOver'> = {};
  #meter = newMeter();
  #details: () => Details = () => ({});
  #recordError: unknown;
  #end: End | undefined;
  #holds = 0;
  #written = false;

  constructor(subject: Subject, { awsRequestId }: Pick<Context, 'awsRequestId'>) {
    const trace = traceId();
    const { message, requestId, route } = subject;
    this.#head = {
      message,
      requestId,
      lambdaRequestId: awsRequestId,
      ...(trace !== undefined && { traceId: trace }),
      coldStart: isColdStart(),
      route,
    };
  }

  /** Notes the caller, or the key of a refused one. */
  calledBy({ user, keyId }: Partial<Pick<Caller, 'user' | 'keyId'>>): void {
    this.#caller = { ...(user !== undefined && { user }), ...(keyId !== undefined && { keyId }) };
  }

  /** Notes the meter of storage, which is read at the end. */
  spends(meter: Meter): void {
    this.#meter = meter;
  }

  /** Notes the projects that the body names. */
  names(projectIds: readonly string[]): void {
    const all = [...new Set(projectIds)];
    this.#projects = {
      projects: all.slice(0, maxProjects),
      ...(all.length > maxProjects && { projectCount: all.length }),
    };
  }

  /** Notes which fields of the request were passed over. It tells names like an API's alone. */
  passesOver(fields: readonly string[]): void {
    const named = fields.filter((field) => fieldName.test(field)).slice(0, maxPassedOver);
    if (named.length > 0) this.#passedOver = { passedOver: named };
  }

  /** Notes how to get the answer's details at the end. */
  describes(details: () => Details): void {
    this.#details = details;
  }

  /**
   * Notes that the request was not recorded. This counts as a failure of the service, whatever the
   * answer was.
   */
  lacksRecord(error: unknown): void {
    this.#recordError = error;
  }

  /**
   * Keeps the line back for what is done after the answer.
   *
   * @returns lets the line go
   */
  hold(): () => void {
    this.#holds++;
    return () => {
      this.#holds--;
      this.#writeWhenDue();
    };
  }

  /** Notes the request's end. Only the first one counts. */
  ends(outcome: Outcome, error?: unknown): void {
    const ms = Math.round(performance.now() - this.#startedMs);
    this.#end ??= { outcome, ms, error };
    this.#writeWhenDue();
  }

  /**
   * Notes the end of a request with an error. It is refused below a status of 500, timed out if the
   * caller's own time was up, else failed.
   */
  endsIn(error: unknown): void {
    const isCallersTimeout = error instanceof ServiceError && error.isCallersTimeout;
    const status = error instanceof ServiceError ? error.status : 500;
    const details = this.#details;
    this.#details = () => ({ ...details(), status, bytes: 0, rows: 0 });
    if (isCallersTimeout) this.ends('timed_out', error);
    else this.ends(status >= 500 ? 'failed' : 'refused', error);
  }

  #writeWhenDue(): void {
    if (!this.#end || this.#holds > 0 || this.#written) return;
    this.#written = true;
    const line = this.#line(this.#end);
    const { METRICS_NAMESPACE: namespace } = process.env;
    write(namespace ? { ...line, ...metricsNote(namespace, Date.now()) } : line);
  }

  #line({ outcome, ms, error }: End): LineFields {
    const failed = outcome === 'failed' || outcome === 'broken' || this.#recordError !== undefined;
    const timedOut = outcome === 'timed_out';
    const { rows = 0, bytes = 0, ...details } = this.#details();
    return {
      level: failed ? 'error' : timedOut ? 'warn' : 'info',
      ...this.#head,
      outcome,
      ...this.#caller,
      ...this.#projects,
      ...this.#passedOver,
      ...details,
      rows,
      bytes,
      ms,
      ...this.#meter,
      failed: failed ? 1 : 0,
      ...(outcome === 'refused' && error instanceof ServiceError && { errors: toProblems(error.detail) }),
      ...((outcome === 'failed' || outcome === 'broken' || timedOut) && { error: toLoggedError(error) }),
      ...(this.#recordError !== undefined && { recordError: toLoggedError(this.#recordError) }),
    };
  }
}
