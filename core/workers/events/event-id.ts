import { createHash } from 'node:crypto';
import type { EventKind } from './model.ts';

/** The bytes of an id. Equal ids of different events are then not to be expected in any life. */
const idBytes = 16;

/**
 * The id of an event: a digest of what makes it this event and no other, as 32 hex digits.
 *
 * @param parts the project, the id of the call or the feedback, and its revision
 */
export const eventId = (kind: EventKind, ...parts: readonly unknown[]): string =>
  createHash('sha256')
    .update(JSON.stringify([kind, ...parts]))
    .digest()
    .subarray(0, idBytes)
    .toString('hex');
