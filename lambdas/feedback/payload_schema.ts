import { payloadPathsOf } from '../../core/questions/stats/index.ts';
import { feedbackPayloadSchema } from '../../weave/api/feedback.ts';
import { endpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/** `POST /feedback/payload_schema`: what the payloads of feedback have. */
export const handler = endpoint(feedbackPayloadSchema, async ({ body, budget, describe }) => {
  const { plan, counts, answer } = payloadPathsOf(settings.feedback, body, body.sampleLimit, budget);
  describe(() => ({ plan, rows: counts.sent, scanned: counts.scanned }));
  return { paths: await answer() };
});
