import { z } from 'zod';
import { type Policy, policySchema } from './policy.ts';
import type { TemplateReader } from './reader.ts';

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
