export { createdJson } from './answer.ts';
export { type Creation, createFeedback } from './create.ts';
export { deleteFeedbackOn } from './delete.ts';
export { feedbackOn } from './join.ts';
export type { FeedbackAnswer, FeedbackDraft } from './model.ts';
export { type FeedbackQuery, planSummary as feedbackPlanSummary } from './plan.ts';
export { purgeFeedback } from './purge.ts';
export { type FeedbackQueryAnswer, queryFeedback } from './query.ts';
export { type Replacement, replaceFeedback } from './replace.ts';
