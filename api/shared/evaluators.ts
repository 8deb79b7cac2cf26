/*
 * What evaluators say, and what tells it from what others say. Nothing is imported here, since browsers
 * load this as it is.
 */

/** What the calls of judges are called. Others may be called so, too, and are judged. */
export const judgeOp = 'Evaluator.judge';

/** The most calls that a request has judged. */
export const maxScored = 1000;

const verdictType = 'evaluation.';

/** The type of feedback that an evaluator's verdicts are. Clients may give feedback of the type, too. */
export const toVerdictType = (evaluatorName: string): string => `${verdictType}${evaluatorName}`;

/** The evaluator whose verdict feedback of this type is; undefined if it is none. */
export const judgedBy = (type: string): string | undefined =>
  type.startsWith(verdictType) && type !== verdictType ? type.slice(verdictType.length) : undefined;

/** How the ids of verdicts begin that the service gives: UUIDv7 of the time 0. No client can give one. */
export const verdictIds = '00000000-0000-7';

/** Whether an evaluator of the service gave a record of feedback. */
export const isVerdictId = (id: string): boolean => id.startsWith(verdictIds);
