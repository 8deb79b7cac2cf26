import { allowsAccess, type Policy } from '../iam/policy.ts';

/** Whether a policy lets a method be invoked, by its ARN. */
export const allowsInvoke = (policy: Policy, methodArn: string): boolean =>
  allowsAccess([policy], { action: 'execute-api:Invoke', resource: methodArn });
