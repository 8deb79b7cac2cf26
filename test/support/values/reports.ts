import type { CallEnd, CallReport, CallStart } from '../../../core/records/calls/model.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';

export const projectId = 'acme/airline' as ProjectId;

/** A start with these fields, and the least of all others. */
export const startReport = (fields: Partial<CallStart>): CallReport => ({
  kind: 'start',
  start: {
    projectId,
    id: null,
    opName: 'op',
    displayName: null,
    traceId: null,
    parentId: null,
    threadId: null,
    turnId: null,
    startedAt: 0,
    attributes: {},
    inputs: {},
    runId: null,
    runStep: null,
    envelopeBytes: 0,
    ...fields,
  },
});

/** An end with these fields, and the least of all others. */
export const endReport = (id: string, fields: Partial<CallEnd> = {}): CallReport => ({
  kind: 'end',
  end: {
    projectId,
    id,
    endedAt: 0,
    output: null,
    exception: null,
    summary: {},
    runStepEnd: null,
    envelopeBytes: 0,
    ...fields,
  },
});
