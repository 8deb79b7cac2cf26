import { describe, expect, it } from 'vitest';
import { resourceOf, resourcesOf, synthesize } from '../../support/synth.ts';

describe('the firewall', () => {
  it('is no resource unless it is set', () => {
    expect(JSON.stringify(synthesize().toJSON())).not.toContain('WAFv2');
  });

  it('limits each address, says so in the shape of all errors, and lets everything else in', () => {
    const template = synthesize({ firewallRatePerAddress: 1000 });
    const [, { Properties }] = resourceOf(template, 'AWS::WAFv2::WebACL');
    expect(Properties).toMatchObject({ Scope: 'REGIONAL', DefaultAction: { Allow: {} } });
    expect(Properties.Rules).toMatchObject([
      {
        Statement: {
          RateBasedStatement: { AggregateKeyType: 'IP', Limit: 1000, EvaluationWindowSec: 300 },
        },
        Action: {
          Block: {
            CustomResponse: {
              ResponseCode: 429,
              CustomResponseBodyKey: 'refusal',
              ResponseHeaders: [{ Name: 'Retry-After', Value: '60' }],
            },
          },
        },
      },
    ]);
    const { refusal } = Properties.CustomResponseBodies as { refusal: { Content: string } };
    expect(JSON.parse(refusal.Content)).toEqual({
      detail: [{ loc: [], msg: expect.any(String), type: 'throttled' }],
    });
  });

  it('stands before the stage of the API', () => {
    const template = synthesize({ firewallRatePerAddress: 1000 });
    const [aclId] = resourceOf(template, 'AWS::WAFv2::WebACL');
    const [stageId] = resourceOf(template, 'AWS::ApiGateway::Stage');
    const [, { Properties }] = resourceOf(template, 'AWS::WAFv2::WebACLAssociation');
    expect(Properties.WebACLArn).toEqual({ 'Fn::GetAtt': [aclId, 'Arn'] });
    expect(JSON.stringify(Properties.ResourceArn)).toContain(`"/stages/",{"Ref":"${stageId}"}`);
    expect(resourcesOf(template, 'AWS::WAFv2::WebACLAssociation').size).toBe(1);
  });
});
