import type { AuditedChange } from '../../../core/records/audit.ts';
import type { AliasMove, Mover } from '../../../core/records/objects/index.ts';
import { putEvent } from '../../../foundations/aws/index.ts';
import { mapConcurrent, type RequestBudget, requestBudget } from '../../../foundations/storage/index.ts';
import { formatTime, objectRef } from '../../../foundations/wire/index.ts';
import { logFailure } from '../log/request-log.ts';
import { auditing } from './audit.ts';
import type { ServiceRequest } from './request.ts';

const { EVENT_BUS } = process.env;

/** The longest that telling of moves may take, in milliseconds: a request waits for it. */
const tellMs = 3000;
const concurrency = 8;

/** The event of a move. Its id is that of the move in the history, without dashes. */
const toEvent = ({ id, projectId, objectId, alias, from, to, at, userId }: AliasMove) => ({
  kind: 'PromptLabelMoved',
  detail: {
    event_id: id.replaceAll('-', ''),
    project_id: projectId,
    name: objectId,
    label: alias,
    ref: to && objectRef(projectId, objectId, to.digest),
    version_index: to?.versionIndex ?? null,
    previous_ref: from && objectRef(projectId, objectId, from.digest),
    previous_version_index: from?.versionIndex ?? null,
    moved_at: formatTime(at),
    svc_user_id: userId,
  },
  time: at / 1000,
});

/** Puts an event on the bus for each move of a prompt's label. A failure is in the log alone. */
const tell = async (moves: readonly AliasMove[], budget: RequestBudget): Promise<void> => {
  const ofPrompts = moves.filter(({ isPrompt }) => isPrompt);
  if (EVENT_BUS === undefined || ofPrompts.length === 0) return;
  const { deadline } = requestBudget(tellMs);
  const bounded = { deadline: Math.min(deadline, budget.deadline) };
  await mapConcurrent(ofPrompts, concurrency, (move) =>
    putEvent(EVENT_BUS, toEvent(move), bounded).catch((error: unknown) => logFailure('labels', error)),
  );
};

/** A move as the audit trail has it. */
const toChange = ({ projectId, objectId, alias, from, to }: AliasMove): AuditedChange => ({
  scope: projectId,
  action: 'prompt.label',
  target: `${objectId}:${alias}`,
  before: { version_index: from?.versionIndex ?? null },
  after: { version_index: to?.versionIndex ?? null },
});

/**
 * Does something that may move labels, in the name of a request's caller. Moves of prompts' labels are put on
 * the audit trail before they are made. Of those that were made the bus is told, also if something fails then.
 *
 * @throws ServiceError 503 if the audit trail does not take a move in time
 */
export const movingLabels = async <T>(
  request: Pick<ServiceRequest<unknown>, 'caller' | 'address' | 'budget'>,
  work: (mover: Mover) => Promise<T>,
): Promise<T> => {
  const { grants, user } = request.caller;
  const audit = auditing(request);
  const moves: AliasMove[] = [];
  const mover: Mover = {
    grants,
    user,
    announce: async (move) => {
      if (move.isPrompt) await audit(toChange(move));
    },
    told: (move) => moves.push(move),
  };
  try {
    return await work(mover);
  } finally {
    await tell(moves, request.budget);
  }
};
