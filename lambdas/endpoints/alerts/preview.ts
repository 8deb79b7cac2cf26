import { alertsPreview } from '../../../api/alerts.ts';
import { previewAlert } from '../../../core/workers/alerts/preview.ts';
import { work } from '../../common/http/endpoint.ts';
import { alertSources } from '../../common/streams/alert-sources.ts';

/** `POST /alerts/preview`: when an alert would have fired, and what it costs. */
export const handler = work(alertsPreview, async ({ body, budget, describe }) => {
  const answer = await previewAlert(alertSources, body, budget);
  describe(() => ({ rows: answer.looks }));
  return answer;
});
