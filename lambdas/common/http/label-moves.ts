import type { AliasMove, Mover } from '../../../core/records/objects/index.ts';
import type { Caller } from '../../../foundations/auth/index.ts';
import { putEvent } from '../../../foundations/aws/index.ts';
import { mapConcurrent, type RequestBudget, requestBudget } from '../../../foundations/storage/index.ts';
import { formatTime, objectRef } from '../../../foundations/wire/index.ts';
import { logFailure } from '../log/request-log.ts';

const { EVENT_BUS } = process.env;

/** The longest that telling of moves may take, in milliseconds: a request waits for it. */
const tellMs = 3000;
const concurrency = 8;

/** The event of a move. Its id is that of the move in the history. */
const toEvent = ({ id, projectId, objectId, alias, from, to, at, userId }: AliasMove) => ({
  kind: 'PromptLabelMoved',
  detail: {
    event_id: id,
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

/**
 * Does something that may move labels, in the name of a caller, and tells of the moves that were stored,
 * also if it fails then.
 */
export const movingLabels = async <T>(
  { grants, user }: Caller,
  budget: RequestBudget,
  work: (mover: Mover) => Promise<T>,
): Promise<T> => {
  const moves: AliasMove[] = [];
  try {
    return await work({ grants, user, told: (move) => moves.push(move) });
  } finally {
    await tell(moves, budget);
  }
};
