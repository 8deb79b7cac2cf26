import { type AlertTrial, alertsTest } from '../../../api/alerts.ts';
import { invoke } from '../../../foundations/aws/index.ts';
import { invalidAt, notFound } from '../../../foundations/wire/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';

const { ALERTS_FUNCTION } = process.env;

/** The setting that a deployment lacks. */
const switchedOff = () =>
  invalidAt(['body'], 'alerts are off in this service: an operator turns them on with the setting alerts');

/**
 * `POST /alerts/test`: has the function of alerts send a test message, since it alone may read
 * webhooks.
 */
export const handler = endpoint(alertsTest, async ({ body, budget, describe }) => {
  if (!ALERTS_FUNCTION) throw switchedOff();
  const { projectId, objectId } = body;
  const tried = await invoke(ALERTS_FUNCTION, { test: { projectId, objectId } }, budget);
  if (tried === null) throw notFound(['body', 'object_id'], 'there is no alert of this name');
  const trial = tried as AlertTrial;
  describe(() => ({ rows: trial.targets.length }));
  return trial;
});
