export { headerFields as feedbackFields } from './answer.ts';
export { type Creation, createFeedback, createOneFeedback } from './create.ts';
export { existingFeedback, timeOfFeedbackRow, timeRange as feedbackTimeRange, toFeedback } from './items.ts';
export { FeedbackJoin } from './join.ts';
export type { FeedbackRecord } from './model.ts';
export { deleteFeedbackOn, purgeFeedback } from './purge.ts';
export {
  countFeedback,
  type FeedbackQueryAnswer,
  planSummary as feedbackPlanSummary,
  queryFeedback,
} from './query.ts';
export { type Replacement, replaceFeedback } from './replace.ts';
