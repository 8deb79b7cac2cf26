import { randomBytes } from 'node:crypto';
import type { AlertTrial } from '../../../../api/alerts.ts';
import type { Links } from '../../../../foundations/links.ts';
import { mapConcurrent, type RequestBudget } from '../../../../foundations/storage/index.ts';
import type { LoadedAlert } from '../alert.ts';
import { windowLink } from '../contributors.ts';
import { toMessage } from '../look.ts';
import { type Message, type Tell, targetName } from '../message.ts';

/** A message that tries whether an alert's targets can be told. It says that the threshold is reached. */
const testMessage = (loaded: LoadedAlert, links: Links): Message => {
  const { alert } = loaded;
  const now = Date.now() * 1000;
  const compared = alert.compare === 'absolute' ? null : { current: null, before: null };
  return toMessage(
    loaded,
    { kind: 'test', state: 'alert', previous: null },
    { value: alert.alert, compared },
    {
      id: randomBytes(16).toString('hex'),
      contributors: [],
      link: windowLink(links, loaded, now),
      end: now,
      at: now,
    },
  );
};

/** How many targets of an alert are told at once. */
const atOnce = 10;

/** The longest that a target may take, in milliseconds: somebody waits for the answer. */
const tryMs = 8000;

/**
 * Sends a test message to each target of an alert.
 *
 * @returns what became of it, by targets in their order; it does not throw if somebody cannot be told
 */
export const tryAlert = async (
  send: Tell,
  loaded: LoadedAlert,
  links: Links,
  budget: RequestBudget,
): Promise<AlertTrial> => {
  const message = testMessage(loaded, links);
  const bounded = { ...budget, deadline: Math.min(budget.deadline, Date.now() + tryMs) };
  const targets = await mapConcurrent(loaded.alert.tell, atOnce, async (target) => {
    const problem = await send(message, target, bounded).then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    return { target: targetName(target), delivered: problem === null, problem };
  });
  return { message_id: message.id, targets };
};
