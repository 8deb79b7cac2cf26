import * as z from 'zod/mini';
import { endpoint, longAnswer } from '../../../../api/endpoint.ts';
import { feedbackValueTypes, ofFeedback } from '../../../../api/feedback-stats.ts';
import { micros, project } from '../../../../api/fields.ts';
import { field, integerWith, nullish, record, withDefault } from '../../../../foundations/wire/schema.ts';

const usualSample = 2000;
const maxSample = 5000;

const payloadSchemaBody = () =>
  record(
    {
      project_id: project,
      start: field(micros, 'When the feedback was stored at the earliest.'),
      end: field(nullish(micros), 'When it was stored, exclusive; now without it.'),
      ...ofFeedback(),
      sample_limit: field(
        withDefault(integerWith(z.minimum(1), z.maximum(maxSample)), usualSample),
        'How many records are looked at: the latest ones; 2,000 without it.',
      ),
    },
    {},
    ({ end }) => ({ end: end ?? Date.now() * 1000 }),
  );

export const feedbackPayloadSchema = /* @__PURE__ */ endpoint({
  path: '/feedback/payload_schema',
  shape: longAnswer,
  stores: { feedback: 'count' },
  tag: 'weave',
  name: 'FeedbackPayloadSchema',
  summary: 'Find out what the payloads of feedback have',
  description:
    'The paths in the payloads of the latest feedback, with what their values are: what `/feedback/stats` can count. Values in lists count, objects in lists do not.',
  request: payloadSchemaBody,
  answer: () =>
    z.object({
      paths: field(
        z.array(
          z.object({
            json_path: field(z.string(), 'A dotted path.'),
            value_type: field(
              z.enum(feedbackValueTypes),
              'What all of its values are; `categorical` for texts, and for values of several types.',
            ),
          }),
        ),
        'In the order of their texts.',
      ),
    }),
  examples: {},
});
