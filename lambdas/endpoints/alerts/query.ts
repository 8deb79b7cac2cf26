import { alertsQuery } from '../../../api/alerts.ts';
import { queryAlerts } from '../../../core/workers/alerts/query.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';
import { parseAlert } from '../../common/streams/parse-alert.ts';

const isOn = Boolean(process.env.ALERTS_FUNCTION);

/** `POST /alerts/query`: the alerts of a project with their states, and what they have told. */
export const handler = endpoint(alertsQuery, async ({ body, budget, describe }) => {
  const answer = await queryAlerts(stores.objects, stores.bookkeeping, body, parseAlert, budget);
  describe(() => ({ rows: answer.alerts.length + answer.history.length }));
  return { is_on: isOn, ...answer };
});
