import type { ProjectId, WireNames } from '../../foundations/wire/index.ts';
import type { FeedbackHeader } from './model.ts';

/*
 * A record's head: what index rows hold of it, in addition to what their keys tell. It is a JSON
 * list. A payload that is stored with it follows on a line of its own, as it is answered. Nearly
 * all refs lead into the record's own project; of these it has what comes after the project.
 */

/** A head, read back. */
export interface Head extends Omit<FeedbackHeader, 'projectId' | 'id' | 'createdAt'> {
  /** JSON text; null if it is stored apart. */
  readonly payload: string | null;
  readonly payloadBytes: number;
}

type Fields = [
  ref: string,
  type: string,
  creator: string | null,
  annotationRef: string | null,
  runnableRef: string | null,
  callRef: string | null,
  triggerRef: string | null,
  userId: string,
  payloadBytes: number,
];

const ownPrefix = (names: WireNames, projectId: ProjectId): string => `${names.refScheme}${projectId}/`;

/**
 * Makes a head.
 *
 * @param payload JSON text; null if it is stored apart
 */
export const toHead = (
  names: WireNames,
  header: FeedbackHeader,
  payloadBytes: number,
  payload: string | null,
): Buffer => {
  const prefix = ownPrefix(names, header.projectId);
  const short = <T extends string | null>(ref: T) =>
    ref?.startsWith(prefix) ? ref.slice(prefix.length) : ref;
  const fields: Fields = [
    short(header.ref) ?? '',
    header.type,
    header.creator,
    short(header.annotationRef),
    short(header.runnableRef),
    short(header.callRef),
    short(header.triggerRef),
    header.userId,
    payloadBytes,
  ];
  return Buffer.from(JSON.stringify(fields) + (payload === null ? '' : `\n${payload}`), 'utf8');
};

/**
 * Reads a head.
 *
 * @throws Error if it is none
 */
export const fromHead = (names: WireNames, projectId: ProjectId, bytes: Uint8Array): Head => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  // JSON without white space has no line break.
  const end = text.indexOf('\n');
  const fields = JSON.parse(end < 0 ? text : text.slice(0, end)) as Fields;
  const prefix = ownPrefix(names, projectId);
  const whole = (ref: string | null) =>
    ref === null || ref.startsWith(names.refScheme) ? ref : prefix + ref;
  const [ref, type, creator, annotationRef, runnableRef, callRef, triggerRef, userId, payloadBytes] = fields;
  return {
    ref: whole(ref) ?? '',
    type,
    creator,
    annotationRef: whole(annotationRef),
    runnableRef: whole(runnableRef),
    callRef: whole(callRef),
    triggerRef: whole(triggerRef),
    userId,
    payload: end < 0 ? null : text.slice(end + 1),
    payloadBytes,
  };
};
