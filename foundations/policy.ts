import { createHash } from 'node:crypto';
import type { RecordKind } from './expression/index.ts';
import { canonicalJson, isJsonObject, type JsonValue } from './wire/index.ts';

/**
 * What a deployment may do otherwise than our own service: names that are stored or answered as
 * text, digests, and features that not every client knows. The place that composes the service
 * chooses it; the core does as it says.
 */
export interface Policy {
  /** The service's name: keys begin with it, and it is the key of its block in a call's summary. */
  readonly service: string;
  /** What every ref begins with. */
  readonly refScheme: string;
  /** The attribute of OpenTelemetry resources that names a project. */
  readonly otelProject: string;
  /** What fields of answered records are called. */
  readonly columns: {
    readonly ref: string;
    readonly userId: string;
    readonly runId: string;
    readonly runStep: string;
    readonly runStepEnd: string;
  };
  /** What calls have, as JSON text, of columns that a query did not ask for. */
  readonly unaskedColumns: Readonly<Record<string, string>>;
  /** What stands in place of an object's value that was not asked for, as JSON text. */
  readonly noValue: string;
  /** The digest of bytes, or of a text as UTF-8: 43 characters of letters, digits, `-` and `_`. */
  readonly bytesDigest: (content: Uint8Array | string) => string;
  /** The digest of a JSON value, which the order of its keys does not change. It looks the same. */
  readonly valueDigest: (value: JsonValue) => string;
  /** Whether an object's value is an op. */
  readonly isOp: (value: JsonValue) => boolean;
  /** Whether versions of objects have tags and aliases. */
  readonly labels: boolean;
  /** Whether a call's summary shows all refs of the feedback on it. */
  readonly feedbackRefs: boolean;
  /** Whether the answer to a query of feedback says how many records match in all. */
  readonly feedbackCount: boolean;
  /** Records as expressions may speak of them, made from those of our own service. */
  readonly recordKind: (kind: RecordKind) => RecordKind;
}

const bytesDigest = (content: Uint8Array | string): string =>
  createHash('sha256').update(content).digest('base64url');

/** Our own service. Digests are SHA-256 in base64url, those of values of {@link canonicalJson}. */
export const ownPolicy: Policy = {
  service: 'svc',
  refScheme: 'svc:///',
  otelProject: 'svc.project_id',
  columns: {
    ref: 'svc_ref',
    userId: 'svc_user_id',
    runId: 'svc_run_id',
    runStep: 'svc_run_step',
    runStepEnd: 'svc_run_step_end',
  },
  unaskedColumns: {},
  noValue: 'null',
  bytesDigest,
  valueDigest: (value) => bytesDigest(canonicalJson(value)),
  isOp: (value) => isJsonObject(value) && Object.hasOwn(value, '_type') && value._type === 'op',
  labels: false,
  feedbackRefs: false,
  feedbackCount: false,
  recordKind: (kind) => kind,
};
