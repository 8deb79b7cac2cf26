import { describe, expect, it } from 'vitest';
import { allowsInvoke } from '../../../../local/gateway/policy.ts';
import { policySchema } from '../../../../local/template/policy.ts';

const arn = 'arn:aws:execute-api:us-east-1:000000000000:api/live/POST/call/start';

const statement = (
  Effect: string,
  Resource: string | string[],
  Action: string | string[] = 'execute-api:Invoke',
) => ({
  Effect,
  Action,
  Resource,
});

const allows = (...Statement: object[]): boolean =>
  allowsInvoke(policySchema.parse({ Version: '2012-10-17', Statement }), arn);

describe('a policy lets a method be invoked', () => {
  it.each([
    arn,
    '*',
    'arn:aws:execute-api:us-east-1:000000000000:api/live/POST/*',
    'arn:aws:execute-api:*:*:*/live/*/call/*',
    'arn:aws:execute-api:us-east-1:000000000000:api/live/POST/call/star?',
  ])('by the resource %s', (resource) => {
    expect(allows(statement('Allow', resource))).toBe(true);
  });

  it('by one of several resources and actions', () => {
    expect(allows(statement('Allow', ['other', arn], ['s3:GetObject', 'execute-api:*']))).toBe(true);
  });
});

describe('a policy does not let it be invoked', () => {
  it.each([
    'arn:aws:execute-api:us-east-1:000000000000:api/live/GET/*',
    'arn:aws:execute-api:us-east-1:000000000000:api/live/POST/call/star',
    'arn:aws:execute-api:us-east-1:000000000000:api/live/POST/call/start/*',
    'arn.aws.execute-api.us-east-1.000000000000.api/live/POST/call/start',
    '',
  ])('by the resource %s', (resource) => {
    expect(allows(statement('Allow', resource))).toBe(false);
  });

  it('without a statement', () => {
    expect(allows()).toBe(false);
  });

  it('where another statement denies it', () => {
    expect(allows(statement('Allow', '*'), statement('Deny', arn))).toBe(false);
  });

  it('by another action', () => {
    expect(allows(statement('Allow', '*', 'execute-api:ManageConnections'))).toBe(false);
  });
});

it('A statement with a condition is not treated as one without', () => {
  const conditional = { ...statement('Allow', '*'), Condition: { Bool: { 'aws:SecureTransport': 'true' } } };
  expect(policySchema.safeParse({ Statement: [conditional] }).success).toBe(false);
});
