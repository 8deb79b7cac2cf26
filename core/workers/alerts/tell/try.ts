import { randomBytes } from 'node:crypto';
import type { AlertTrial } from '../../../../api/alerts.ts';
import { mapConcurrent, type RequestBudget } from '../../../../foundations/storage/index.ts';
import { formatTime } from '../../../../foundations/wire/index.ts';
import { linksOf } from '../../../doors/mcp/links.ts';
import type { LoadedAlert } from '../alert.ts';
import { type Message, type Tell, targetName } from '../message.ts';

/** A message that tries whether an alert's targets can be told. It says that the threshold is passed. */
const testMessage = ({ projectId, objectId, digest, alert }: LoadedAlert, serviceUrl: string): Message => {
  const { metric, feedbackType, path, aggregation, percentile } = alert.metric;
  const now = Date.now() * 1000;
  const [start, end] = [formatTime(now - alert.windowMinutes * 60_000_000), formatTime(now)];
  const isAbsolute = alert.compare === 'absolute';
  return {
    id: randomBytes(16).toString('hex'),
    kind: 'test',
    project_id: projectId,
    alert: { object_id: objectId, name: alert.name, digest },
    ...{ state: 'alert', previous: null },
    metric: `${aggregation ?? `p${percentile}`} ${metric ?? `${path} of feedback ${feedbackType}`}`,
    ...{ value: alert.alert, threshold: alert.alert, direction: alert.direction, compare: alert.compare },
    compared: isAbsolute ? null : { current: null, before: null },
    window: { start, end },
    contributors: [],
    link: linksOf(serviceUrl).traces(projectId, start, end),
    at: end,
  };
};

/** What is told to all targets of an alert at once, at most so many. */
const atOnce = 10;

/**
 * Sends a test message to each target of an alert.
 *
 * @param serviceUrl for links, without a slash at its end
 * @returns what became of it, by targets in their order; it does not throw if somebody cannot be told
 */
export const tryAlert = async (
  tell: Tell,
  loaded: LoadedAlert,
  serviceUrl: string,
  budget: RequestBudget,
): Promise<AlertTrial> => {
  const message = testMessage(loaded, serviceUrl);
  const targets = await mapConcurrent(loaded.alert.tell, atOnce, async (target) => {
    const problem = await tell(message, target, budget).then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    return { target: targetName(target), delivered: problem === null, problem };
  });
  return { message_id: message.id, targets };
};
