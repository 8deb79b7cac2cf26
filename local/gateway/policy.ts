import { z } from 'zod';

const oneOrMore = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (typeof value === 'string' ? [value] : value));

/** An IAM policy, as far as authorizers write them. */
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

const action = 'execute-api:Invoke';

/** Whether a policy lets a method be invoked, by its ARN: some statement allows it and none denies it. */
export const allowsInvoke = ({ Statement }: Policy, methodArn: string): boolean => {
  const effects = Statement.filter(
    ({ Action, Resource }) =>
      Action.some((pattern) => fits(pattern.toLowerCase(), action.toLowerCase())) &&
      Resource.some((pattern) => fits(pattern, methodArn)),
  ).map(({ Effect }) => Effect);
  return effects.includes('Allow') && !effects.includes('Deny');
};
