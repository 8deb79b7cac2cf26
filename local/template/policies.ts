import { z } from 'zod';
import type { TemplateReader } from './cloudformation.ts';

const oneOrMore = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (typeof value === 'string' ? [value] : value));

/**
 * An IAM policy as the stack and its authorizers write them. Anything else is refused, such as
 * conditions.
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

/** A parsed policy document. */
export type Policy = z.output<typeof policySchema>;

/** A pattern as an expression: `*` is any characters, `?` is one. */
const expressionOf = (pattern: string): RegExp => {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's');
};

/** Whether a text fits a pattern. One without `*` and `?` is only compared: most have none. */
export const fits = (pattern: string, text: string): boolean =>
  /[*?]/.test(pattern) ? expressionOf(pattern).test(text) : pattern === text;

/** An action, e.g. `dynamodb:Query`, on the ARN of a resource. */
export interface Access {
  readonly action: string;
  readonly resource: string;
}

/** Whether policies allow an access: some statement allows it and none denies it. */
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

const functionProperties = z.object({ Role: z.string() });
const roleProperties = z.object({
  Policies: z.array(z.object({ PolicyDocument: policySchema })).default([]),
});

/**
 * The inline policies of each function's role, by the function's ARN. Other policies are ignored.
 *
 * @throws Error if a role or policy has a form that is not supported locally
 */
export const readPolicies = (reader: TemplateReader): ReadonlyMap<string, readonly Policy[]> => {
  const roles = new Map(
    reader
      .resources('AWS::IAM::Role', roleProperties)
      .map(({ id, properties }) => [reader.attribute(id, 'Arn'), properties.Policies]),
  );
  const functions = reader.resources('AWS::Lambda::Function', functionProperties);
  return new Map(
    functions.map(({ id, properties: { Role } }) => [
      reader.attribute(id, 'Arn'),
      (roles.get(Role) ?? []).map(({ PolicyDocument }) => PolicyDocument),
    ]),
  );
};
