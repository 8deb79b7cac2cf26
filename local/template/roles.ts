import { z } from 'zod';
import { type Policy, policySchema } from '../iam/policy.ts';
import type { TemplateReader } from './reader.ts';

const functionProperties = z.object({ Role: z.string() });
const roleProperties = z.object({
  Policies: z.array(z.object({ PolicyDocument: policySchema })).default([]),
});

/**
 * What the functions of a stack may do: the inline policies of their roles, by the functions' ARNs.
 * What other policies would add is not there.
 *
 * @throws Error where a function's role or policy is of a kind that is not supported locally
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
