import type { JsonObject } from '../../foundations/wire/index.ts';

/* Feedback that answers what a project asks people. No value is imported here, since browsers load this as it is. */

/** The types of answers to what an object of class `AnnotationSpec` asks, with the object's name. */
const answerType = /^(?:wandb\.)?annotation\.(.+)$/s;

interface Answer {
  readonly type: string;
  readonly annotationRef: string | null;
  readonly payload: JsonObject;
}

/** What an answer is to; undefined if feedback of this type is no answer. */
export const askedBy = (type: string): string | undefined => answerType.exec(type)?.[1];

/**
 * What is wrong with feedback as an answer: it has a value, and says by its ref what was asked, under
 * the name that its type has.
 */
export const answerProblems = ({
  type,
  annotationRef,
  payload,
}: Answer): readonly (readonly [field: string, message: string])[] => {
  const specName = askedBy(type);
  if (specName === undefined) return [];
  const name = /\/object\/([^/:]+):/.exec(annotationRef ?? '')?.[1];
  const problems: [string, string][] = [];
  if (name !== specName)
    problems.push([
      'annotation_ref',
      `should be a ref to the AnnotationSpec ${specName}, as feedback_type names it`,
    ]);
  if (!Object.hasOwn(payload, 'value')) problems.push(['payload', 'should have the answer as its value']);
  return problems;
};
