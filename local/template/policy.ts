import { z } from 'zod';

const oneOrMore = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (typeof value === 'string' ? [value] : value));

/**
 * An IAM policy, as far as the stack and its authorizers write them: with conditions, for one, it
 * is refused.
 */
export const policySchema = z.object({
  Version: z.string().optional(),
  Statement: z.array(
    z.strictObject({
      Sid: z.string().optional(),
      Effect: z.enum(['Allow', 'Deny']),
      Action: oneOrMore,
      Resource: oneOrMore,
    }),
  ),
});

/** A policy document, read. */
export type Policy = z.output<typeof policySchema>;

/** Whether the text fits a pattern in which `*` stands for any characters and `?` for any one. */
const fits = (pattern: string, text: string): boolean => {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's').test(text);
};

/** Something that is done: an action, e.g. `dynamodb:Query`, on the ARN of a resource. */
export interface Access {
  readonly action: string;
  readonly resource: string;
}

/** Whether policies let something be done: some statement allows it and none denies it. */
export const allowsAccess = (policies: readonly Policy[], { action, resource }: Access): boolean => {
  const effects = policies
    .flatMap(({ Statement }) => Statement)
    .filter(
      ({ Action, Resource }) =>
        // The case of actions does not matter to IAM, that of resources does.
        Action.some((pattern) => fits(pattern.toLowerCase(), action.toLowerCase())) &&
        Resource.some((pattern) => fits(pattern, resource)),
    )
    .map(({ Effect }) => Effect);
  return effects.includes('Allow') && !effects.includes('Deny');
};
