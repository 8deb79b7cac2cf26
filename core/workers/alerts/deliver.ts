import { mapConcurrent, type RequestBudget, requestBudget } from '../../../foundations/storage/index.ts';
import { type Tell, targetName } from './message.ts';
import type { Dispatch, Notification, Sending } from './register.ts';

/** How long a target may take for a message, in milliseconds. */
const tellMs = 10_000;
/** How long messages to a target that failed wait, in milliseconds: twice as long after each try. */
const firstPauseMs = 60_000;
const maxPauseMs = 3_600_000;
/** After how long a message is given up, in milliseconds. */
const giveUpMs = 24 * 3_600_000;
/** How many targets are told at once. */
const concurrency = 8;

/** The longest text about what went wrong that is kept. */
const maxProblem = 300;

const toProblem = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, maxProblem);

const trySending = async (
  send: Tell,
  { message }: Notification,
  sending: Sending,
  at: number,
  now: () => number,
  budget: RequestBudget,
): Promise<Sending> => {
  const tries = sending.tries + 1;
  try {
    await send(message, sending.target, { ...requestBudget(tellMs), meter: budget.meter });
    return { ...sending, tries, status: 'delivered', problem: null, nextAt: 0 };
  } catch (error) {
    const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** sending.tries);
    const nextAt = now() + pauseMs;
    const status = nextAt - at > giveUpMs ? 'failed' : 'waiting';
    return { ...sending, tries, status, problem: toProblem(error), nextAt };
  }
};

/** A place among dispatches: of which dispatch, message and target. */
interface Place {
  readonly chain: string;
  readonly dispatch: Dispatch;
  readonly notification: Notification;
  readonly sending: Sending;
}

/**
 * Tells what waits to be told. The messages of an alert come to a target in their order: one waits as
 * long as an earlier one does.
 *
 * @param dispatches oldest first
 * @param now the time, in milliseconds since 1970
 * @returns the dispatches with what became of their messages
 */
export const deliver = async (
  send: Tell,
  dispatches: readonly Dispatch[],
  now: () => number,
  budget: RequestBudget,
): Promise<Dispatch[]> => {
  const places = dispatches.flatMap((dispatch) =>
    dispatch.notifications.flatMap((notification) =>
      notification.sendings.map(
        (sending): Place => ({
          chain: `${targetName(sending.target)}\n${notification.message.alert.object_id}`,
          dispatch,
          notification,
          sending,
        }),
      ),
    ),
  );
  const results = new Map<Sending, Sending>();
  const chains = Map.groupBy(
    places.filter(({ sending }) => sending.status === 'waiting'),
    ({ chain }) => chain,
  );
  await mapConcurrent([...chains.values()], concurrency, async (chain) => {
    for (const { dispatch, notification, sending } of chain) {
      const isTime = sending.nextAt <= now() && Date.now() + tellMs < budget.deadline;
      if (!isTime) return;
      const result = await trySending(send, notification, sending, dispatch.at / 1000, now, budget);
      results.set(sending, result);
      if (result.status === 'waiting') return;
    }
  });
  return dispatches.map(({ at, notifications }) => ({
    at,
    notifications: notifications.map(({ message, sendings }) => ({
      message,
      sendings: sendings.map((sending) => results.get(sending) ?? sending),
    })),
  }));
};

/** What of dispatches still waits to be told. */
export const waitingIn = (dispatches: readonly Dispatch[]): Sending[] =>
  dispatches
    .flatMap(({ notifications }) => notifications.flatMap(({ sendings }) => sendings))
    .filter(({ status }) => status === 'waiting');
