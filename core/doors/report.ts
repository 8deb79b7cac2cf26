import { endPayload, envelopeBytes, startPayload } from '../../foundations/wire/index.ts';
import type { CallEnd, CallReport, CallStart } from '../records/calls/index.ts';

/*
 * Reports of calls that this service makes itself, of spans and of inference requests. Their values
 * are checked where they come from.
 */

type MadeStart = Omit<CallStart, 'displayName' | 'runId' | 'runStep' | 'envelopeBytes'> &
  Partial<Pick<CallStart, 'displayName'>>;
type MadeEnd = Omit<CallEnd, 'displayName' | 'runStepEnd' | 'envelopeBytes'>;

/** What a span says of itself, without what it has from others: its size is the same however they come. */
const saidBy = ({ span, ...start }: MadeStart): object =>
  span ? { ...start, threadId: span.threadId, turnId: null } : start;

/** The report of a call's start. */
export const startReport = (start: MadeStart): CallReport => ({
  kind: 'start',
  start: {
    displayName: null,
    runId: null,
    runStep: null,
    ...start,
    envelopeBytes: envelopeBytes(saidBy(start), startPayload),
  },
});

/** The report of a call's end. */
export const endReport = (end: MadeEnd): CallReport => ({
  kind: 'end',
  end: { ...end, runStepEnd: null, envelopeBytes: envelopeBytes(end, endPayload) },
});
