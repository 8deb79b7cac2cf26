import type { DemoCall } from './calls.ts';

/** What people thought of the answers: every third turn has something. */
const opinions = [
  { feedback_type: 'thumbs', payload: { up: true } },
  { feedback_type: 'thumbs', payload: { up: false, note: 'The table has no tracking number.' } },
  { feedback_type: 'score', payload: { score: 0.9 } },
  { feedback_type: 'note', payload: { note: 'Good tone. Keep the list short.' } },
  { feedback_type: 'thumbs', payload: { up: true, note: 'Solved in one turn' } },
  { feedback_type: 'score', payload: { score: 0.4 } },
  { feedback_type: 'correction', payload: { correction: 'Returns take 14 days, not 30.' } },
] as const;

/** Feedback on the finished turns of a day. */
export const feedbackOn = (project: string, calls: readonly DemoCall[]): object[] =>
  calls
    .filter(({ parent, ms }) => parent === null && ms !== null)
    .filter((_, at) => at % 3 === 1)
    .map(({ id }, at) => ({
      project_id: project,
      svc_ref: `svc:///${project}/call/${id}`,
      creator: at % 2 === 0 ? 'Ada' : 'Grace',
      ...opinions[at % opinions.length],
    }));
