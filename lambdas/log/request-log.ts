import type { Context } from 'aws-lambda';
import type { Caller } from '../../core/auth/index.ts';
import { type Meter, newMeter } from '../../core/storage/index.ts';
import { ServiceError } from '../../core/wire/index.ts';
import { errorOf, faultsOf } from './faults.ts';
import type { LineFields, Outcome } from './fields.ts';
import { metricsNote } from './metrics.ts';

/** What an endpoint says of its answer. */
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

/** The container has served nothing yet. */
let cold = true;

const isColdStart = (): boolean => {
  const first = cold;
  cold = false;
  return first;
};

/**
 * The id of the request's trace, which Lambda has in its environment:
 * `Root=1-…;Parent=…;Sampled=1`.
 */
const traceId = (): string | undefined => /Root=([^;]+)/.exec(process.env._X_AMZN_TRACE_ID ?? '')?.[1];

/**
 * Writes one line to the function's log. console.log would add Lambda's own prefix, and it would
 * not be JSON any more.
 */
const write = (line: object): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

/**
 * The log line of one request, which is put together while the request is worked on and written
 * once, when its end is known and nobody {@link hold}s it.
 */
export class RequestLog {
  readonly #begun = performance.now();
  readonly #head: Pick<LineFields, 'lambdaRequestId' | 'coldStart' | 'traceId'> & Subject;
  #caller: Pick<LineFields, 'user' | 'keyId'> = {};
  #projects: Pick<LineFields, 'projects' | 'projectCount'> = {};
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

  /** Notes who calls, or with which key somebody tries to. */
  calledBy({ user, keyId }: Partial<Pick<Caller, 'user' | 'keyId'>>): void {
    this.#caller = { ...(user !== undefined && { user }), ...(keyId !== undefined && { keyId }) };
  }

  /** Notes the meter of what is spent on storage, which is read at the end. */
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

  /** Notes where to learn, at the end, what the answer was. */
  describes(details: () => Details): void {
    this.#details = details;
  }

  /**
   * Notes that the request could not be recorded, which is the service's fault, whatever its answer
   * was.
   */
  lacksRecord(error: unknown): void {
    this.#recordError = error;
  }

  /**
   * Keeps the line back for what is done after the answer, until the function that this gives is
   * called.
   */
  hold(): () => void {
    this.#holds++;
    return () => {
      this.#holds--;
      this.#writeWhenDue();
    };
  }

  /** Notes the request's end. The first one counts. */
  ends(outcome: Outcome, error?: unknown): void {
    const ms = Math.round(performance.now() - this.#begun);
    this.#end ??= { outcome, ms, error };
    this.#writeWhenDue();
  }

  /** Notes the end of a request that is answered with an error: refused by it, or failed. */
  endsIn(error: unknown): void {
    const status = error instanceof ServiceError ? error.status : 500;
    const details = this.#details;
    this.#details = () => ({ ...details(), status, bytes: 0, rows: 0 });
    this.ends(status >= 500 ? 'failed' : 'refused', error);
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
    const { rows = 0, bytes = 0, ...details } = this.#details();
    return {
      level: failed ? 'error' : 'info',
      ...this.#head,
      outcome,
      ...this.#caller,
      ...this.#projects,
      ...details,
      rows,
      bytes,
      ms,
      ...this.#meter,
      failed: failed ? 1 : 0,
      ...(outcome === 'refused' && error instanceof ServiceError && { errors: faultsOf(error.detail) }),
      ...((outcome === 'failed' || outcome === 'broken') && { error: errorOf(error) }),
      ...(this.#recordError !== undefined && { recordError: errorOf(this.#recordError) }),
    };
  }
}
