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
    expect(stage.Properties.MethodSettings).toContainEqual(
      expect.objectContaining({
        HttpMethod: '*',
        ResourcePath: '/*',
        ThrottlingRateLimit: 20,
        ThrottlingBurstLimit: 10,
      }),
    );
  });

  it('has a throttle of its own for each method without a key, and for no other', () => {
    const template = synthesize({ openThrottleRate: 7, openThrottleBurst: 9 });
    const [, stage] = findResource(template, 'AWS::ApiGateway::Stage');
    const settings = stage.Properties.MethodSettings as Record<string, unknown>[];
    // What is answered by a link is longer, and asked for a tenth as often.
    const byLink = settings.filter(({ ResourcePath }) => ResourcePath === '/~1shared~1read');
    expect(byLink).toEqual([
      expect.objectContaining({ HttpMethod: 'POST', ThrottlingRateLimit: 1, ThrottlingBurstLimit: 1 }),
    ]);
    const own = settings.filter(({ ThrottlingRateLimit }) => ThrottlingRateLimit === 7);
    const open = [...findResources(template, 'AWS::ApiGateway::Method').values()].filter(
      ({ Properties }) => Properties.AuthorizationType === 'NONE',
    );
    expect(open.length).toBeGreaterThan(5);
    expect(own).toHaveLength(open.length - byLink.length);
    expect(own.every(({ ThrottlingBurstLimit }) => ThrottlingBurstLimit === 9)).toBe(true);
    expect(own).toContainEqual(
      expect.objectContaining({ HttpMethod: 'GET', ResourcePath: '/~1ui~1{proxy+}' }),
    );
    expect(settings).toHaveLength(own.length + byLink.length + 1);
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

describe('a domain', () => {
  const domain = {
    name: 'tracing.example.com',
    certificate: 'arn:aws:acm:eu-west-1:123456789012:certificate/01234567-0000-0000-0000-000000000000',
  };

  it('is no resource unless it is set', () => {
    expect(JSON.stringify(synthesize().toJSON())).not.toMatch(/::DomainName|BasePathMapping|Route53/);
  });

  it('leads to the stage, with the demands of TLS that the API has', () => {
    const template = synthesize({ domain });
    const [id, { Properties }] = findResource(template, 'AWS::ApiGateway::DomainName');
    const [, api] = findResource(template, 'AWS::ApiGateway::RestApi');
    const { SecurityPolicy, EndpointAccessMode } = api.Properties;
    expect(SecurityPolicy).toMatch(/^SecurityPolicy_TLS13/);
    expect(Properties).toMatchObject({ DomainName: domain.name, SecurityPolicy, EndpointAccessMode });
    const [, mapping] = findResource(template, 'AWS::ApiGateway::BasePathMapping');
    expect(mapping.Properties).toMatchObject({
      DomainName: { Ref: id },
      Stage: { Ref: findResource(template, 'AWS::ApiGateway::Stage')[0] },
    });
    expect(mapping.Properties).not.toHaveProperty('BasePath');
  });

  it('is the URL in outputs, and in links of alerts', () => {
    const template = synthesize({ domain, alerts: true });
    const { ApiUrl, DomainTarget } = template.toJSON().Outputs;
    expect(ApiUrl.Value).toBe('https://tracing.example.com/');
    expect(DomainTarget.Value['Fn::GetAtt'][1]).toBe('RegionalDomainName');
    const [, alerts] = findResource(template, 'AWS::Lambda::Function', 'AlertsFunction');
    expect(alerts.Properties.Environment).toMatchObject({
      Variables: { SERVICE_URL: 'https://tracing.example.com' },
    });
  });

  it('has a DNS record if its zone is given', () => {
    expect(findResources(synthesize({ domain }), 'AWS::Route53::RecordSet').size).toBe(0);
    const zoned = synthesize({ domain: { ...domain, zone: 'Z0123456789' } });
    expect(findResource(zoned, 'AWS::Route53::RecordSet')[1].Properties).toMatchObject({
      Name: domain.name,
      HostedZoneId: 'Z0123456789',
    });
  });
});

describe('a private API', () => {
  const vpcEndpointIds = ['vpce-01234567', 'vpce-89abcdef'];
  const template = synthesize({ private: { vpcEndpointIds } });

  it('lets in what comes through its endpoints alone', () => {
    const [, { Properties }] = findResource(template, 'AWS::ApiGateway::RestApi');
    expect(Properties.EndpointConfiguration).toEqual({ Types: ['PRIVATE'], VpcEndpointIds: vpcEndpointIds });
    expect(Properties.Policy).toMatchObject({
      Statement: [
        {
          Effect: 'Allow',
          Action: 'execute-api:Invoke',
          Condition: { StringEquals: { 'aws:SourceVpce': vpcEndpointIds } },
        },
      ],
    });
  });

  it('has the name that its first endpoint gives it', () => {
    const url = JSON.stringify(template.toJSON().Outputs.ApiUrl.Value);
    expect(url).toContain('-vpce-01234567.execute-api.');
    expect(url).toContain('/api/"');
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
