import { feedbackOn } from '../../core/feedback/index.ts';
import { type Lookups, noLookups } from '../../core/query/index.ts';
import { settings } from './settings.ts';

/** What queries over calls ask of others than the calls themselves. */
export const lookups: Lookups = {
  ...noLookups,
  feedback: (projectId, callIds, effort) => feedbackOn(settings.feedback, projectId, callIds, effort),
};
