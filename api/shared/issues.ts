/* What issues are, and what counts as one of them. */

/** The class of objects that have what people decided on issues. */
export const issueClass = 'Issue';

export const issueKinds = ['error', 'verdict', 'feedback', 'loop'] as const;
export type IssueKind = (typeof issueKinds)[number];

/** What people can decide. */
export const savedIssueStates = ['open', 'resolved', 'ignored'] as const;
export type SavedIssueState = (typeof savedIssueStates)[number];

/** The states of issues. One that was resolved and seen since has regressed. */
export const issueStates = [...savedIssueStates, 'regressed'] as const;
export type IssueState = (typeof issueStates)[number];

/** The object that has what was decided on an issue. */
export const toIssueObject = (issueId: string): string => `issue-${issueId}`;

/** The issue that an object is about; undefined for an object of another name. */
export const issueOfObject = (objectId: string): string | undefined =>
  /^issue-([0-9a-f]{32})$/.exec(objectId)?.[1];

/** How often a trace has to do the same within an hour, so that it is a loop. */
export const leastRepeats = 3;

/** Values and labels of verdicts that refuse, in small letters. */
const refusals: ReadonlySet<string> = new Set([
  'bad',
  'fail',
  'failed',
  'failure',
  'false',
  'harmful',
  'incorrect',
  'irrelevant',
  'no',
  'poor',
  'refused',
  'reject',
  'rejected',
  'toxic',
  'unacceptable',
  'unfaithful',
  'ungrounded',
  'unsafe',
  'unsupported',
  'wrong',
]);

/**
 * What a verdict refuses with, as a text; undefined if it does not: `false`, a number below 0.5, or a value or label
 * that says so, such as `fail`. A label goes before a value.
 */
export const refusalIn = ({ value, label }: Readonly<Record<string, unknown>>): string | undefined => {
  const text = typeof label === 'string' ? label : typeof value === 'string' ? value : undefined;
  if (text !== undefined)
    return refusals.has(text.trim().toLowerCase()) ? text.trim().toLowerCase() : undefined;
  if (value === false) return 'false';
  return typeof value === 'number' && value < 0.5 ? 'below 0.5' : undefined;
};

/** How feedback of people says that they were not content; undefined if it does not. */
export const complaintIn = (type: string, payload: Readonly<Record<string, unknown>>): string | undefined => {
  const { up, emoji, score } = payload;
  if (type === 'thumbs') return up === false ? 'Thumbs down' : undefined;
  if (/^(?:wandb\.)?reaction\b/.test(type))
    return typeof emoji === 'string' && /^(?:👎|😞|😡|🙁)/u.test(emoji) ? `Reaction ${emoji}` : undefined;
  return type === 'score' && typeof score === 'number' && score < 0.5 ? 'Score below 0.5' : undefined;
};
