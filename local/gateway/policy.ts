import { allowsAccess, type Policy } from '../template/policy.ts';

/** Whether a policy allows invoking a method, by the method's ARN. */
export const allowsInvoke = (policy: Policy, methodArn: string): boolean =>
  allowsAccess([policy], { action: 'execute-api:Invoke', resource: methodArn });
