import { type AlertsQuery, alertsQuery } from '../../../api/alerts.ts';
import { queryAlerts } from '../../../core/workers/alerts/query.ts';
import { invoke } from '../../../foundations/aws/index.ts';
import type { RequestBudget } from '../../../foundations/storage/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';
import { parseAlert } from '../../common/streams/parse-alert.ts';

const { ALERTS_FUNCTION } = process.env;

/** Has the function of alerts name webhooks, since it alone may look at them. */
const nameWebhooks = async (
  { projectId, includeWebhooks }: AlertsQuery,
  budget: RequestBudget,
): Promise<{ readonly webhooks?: string[] }> => {
  if (!includeWebhooks) return {};
  if (!ALERTS_FUNCTION) return { webhooks: [] };
  return { webhooks: (await invoke(ALERTS_FUNCTION, { webhooksOf: projectId }, budget)) as string[] };
};

/** `POST /alerts/query`: the alerts of a project with their states, and what they have told. */
export const handler = endpoint(alertsQuery, async ({ body, budget, describe }) => {
  const [answer, named] = await Promise.all([
    queryAlerts(stores.objects, stores.bookkeeping, body, parseAlert, budget),
    nameWebhooks(body, budget),
  ]);
  describe(() => ({ rows: answer.alerts.length + answer.history.length }));
  return { is_on: Boolean(ALERTS_FUNCTION), ...answer, ...named };
});
