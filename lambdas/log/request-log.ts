import type { Context } from 'aws-lambda';
import type { Caller } from '../../core/foundations/auth/index.ts';
import { type Meter, newMeter } from '../../core/foundations/storage/index.ts';
import { ServiceError } from '../../core/foundations/wire/index.ts';
import type { LineFields, Outcome } from './fields.ts';
import { metricsNote } from './metrics.ts';
import { errorOf, problemsOf } from './problems.ts';

/** What an endpoint tells the log of its answer. */
export type Details = Partial<
  Pick<LineFields, 'plan' | 'rows' | 'scanned' | 'hydrated' | 'upstream' | 'bytes' | 'status' | 'reason'>
>;

/** What the line is about. */
export type Subject = Pick<LineFields, 'message' | 'requestId' | 'route'>;

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

/**
 * The log line of one request. It is put together during the request, and written once the end is
 * known and nobody {@link hold}s it.
 */
export class RequestLog {
  readonly #begun = performance.now();
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
    const ms = Math.round(performance.now() - this.#begun);
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
      ...(outcome === 'refused' && error instanceof ServiceError && { errors: problemsOf(error.detail) }),
      ...((outcome === 'failed' || outcome === 'broken' || timedOut) && { error: errorOf(error) }),
      ...(this.#recordError !== undefined && { recordError: errorOf(this.#recordError) }),
    };
  }
}
