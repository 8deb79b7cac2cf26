import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { routes } from '../../../api/routes.ts';
import { findResource, findResources, makeStack, synthesize } from '../../support/stack/template.ts';

describe('the API', () => {
  it('is throttled as configured', () => {
    const [, stage] = findResource(
      synthesize({ throttleRate: 20, throttleBurst: 10 }),
      'AWS::ApiGateway::Stage',
    );
    expect(stage.Properties.MethodSettings).toMatchObject([
      { ThrottlingRateLimit: 20, ThrottlingBurstLimit: 10 },
    ]);
  });

  it('may invoke the functions of its methods, and no others', () => {
    const template = synthesize();
    const namesIn = (value: unknown) =>
      [...JSON.stringify(value).matchAll(/"Fn::GetAtt":\["(Functions\w+)","Arn"\]/g)].map(([, name]) => name);
    const [, invoker] = findResource(template, 'AWS::IAM::Role', 'ApiInvoker');
    const invoked = [...findResources(template, 'AWS::ApiGateway::Method').values()].flatMap(namesIn);
    expect(invoked.length).toBeGreaterThan(40);
    expect(namesIn(invoker).sort()).toEqual([...new Set(invoked)].sort());
  });

  it('leaves the role for logs to another stack if configured', () => {
    expect(findResources(synthesize({ accountLogRole: false }), 'AWS::ApiGateway::Account').size).toBe(0);
  });

  it('is deployed again when a route or an authorizer changes', () => {
    const getDeployment = (template: ReturnType<typeof synthesize>) =>
      findResource(template, 'AWS::ApiGateway::Deployment')[0];
    const template = synthesize();
    const changed = [synthesize({}, routes.slice(0, -1)), synthesize({ authorizerCacheSeconds: 1 })];
    expect(new Set([template, ...changed].map(getDeployment)).size).toBe(3);
    const again = Template.fromStack(makeStack().stack);
    expect(getDeployment(again)).toBe(getDeployment(template));
  });

  it('has authorizers for the schemes of its routes, which cache as configured', () => {
    const basic = routes.filter(({ scheme }) => scheme === 'basic');
    const authorizers = findResources(
      synthesize({ authorizerCacheSeconds: 0 }, basic),
      'AWS::ApiGateway::Authorizer',
    );
    expect(
      [...authorizers.values()].map(({ Properties }) => Properties.AuthorizerResultTtlInSeconds),
    ).toEqual([0]);
  });
});

describe('the firewall', () => {
  it('is no resource unless it is set', () => {
    expect(JSON.stringify(synthesize().toJSON())).not.toContain('WAFv2');
  });

  it('limits each address, says so in the shape of all errors, and lets everything else in', () => {
    const template = synthesize({ firewallRatePerAddress: 1000 });
    const [, { Properties }] = findResource(template, 'AWS::WAFv2::WebACL');
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
              ResponseHeaders: [
                { Name: 'Retry-After', Value: '60' },
                { Name: 'X-Content-Type-Options', Value: 'nosniff' },
              ],
            },
          },
        },
      },
    ]);
    const { refusal } = Properties.CustomResponseBodies as { refusal: { Content: string } };
    expect(JSON.parse(refusal.Content)).toEqual({
      detail: [{ loc: [], msg: expect.any(String), type: 'throttled' }],
      error: { message: expect.any(String), type: 'rate_limit_error', code: 'throttled' },
    });
  });

  it('stands before the stage of the API', () => {
    const template = synthesize({ firewallRatePerAddress: 1000 });
    const [aclId] = findResource(template, 'AWS::WAFv2::WebACL');
    const [stageId] = findResource(template, 'AWS::ApiGateway::Stage');
    const [, { Properties }] = findResource(template, 'AWS::WAFv2::WebACLAssociation');
    expect(Properties.WebACLArn).toEqual({ 'Fn::GetAtt': [aclId, 'Arn'] });
    expect(JSON.stringify(Properties.ResourceArn)).toContain(`"/stages/",{"Ref":"${stageId}"}`);
    expect(findResources(template, 'AWS::WAFv2::WebACLAssociation').size).toBe(1);
  });
});
