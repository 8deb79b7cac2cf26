import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { type Route, takesKey } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import { makeStack, type Resource, resourceOf, resourcesOf, synthesize } from '../../support/synth.ts';

const template = synthesize();
const functions = resourcesOf(template, 'AWS::Lambda::Function');
const authorizers = resourcesOf(template, 'AWS::ApiGateway::Authorizer');

const pathOf = (id: string): string => {
  const [, { Properties }] = resourceOf(template, 'AWS::ApiGateway::Resource', id);
  const { ParentId, PathPart } = Properties as { ParentId: { Ref?: string }; PathPart: string };
  return `${ParentId.Ref === undefined ? '' : pathOf(ParentId.Ref)}/${PathPart}`;
};
/** The path of a method's resource. That of the root is an attribute of the API. */
const pathOfMethod = ({ ResourceId }: Method): string =>
  ResourceId.Ref === undefined ? '/' : pathOf(ResourceId.Ref);

interface Method {
  readonly HttpMethod: string;
  readonly AuthorizationType: string;
  readonly ApiKeyRequired?: boolean;
  readonly AuthorizerId?: { readonly Ref: string };
  readonly ResourceId: { readonly Ref?: string };
  readonly Integration: Readonly<Record<string, unknown>>;
}
const methods = [...resourcesOf(template, 'AWS::ApiGateway::Method').values()].map(
  ({ Properties }) => Properties as unknown as Method,
);
const methodsOf = (path: string): Method[] => methods.filter((method) => pathOfMethod(method) === path);
/** The method of a path, beside which there may be a HEAD. */
const methodOf = (path: string): Method => {
  const found = methodsOf(path).filter(({ HttpMethod }) => HttpMethod !== 'HEAD');
  expect(found).toHaveLength(1);
  return found[0] as Method;
};
const functionIdOf = ({ method, path }: Route): string => {
  const description = `${method} ${path}`;
  const [id] =
    [...functions].find(([, { Properties }]) =>
      String(Properties.Description).split(', ').includes(description),
    ) ?? [];
  return id ?? `no function of ${path}`;
};
describe.each(routes.filter(takesKey))('$method $path', (route) => {
  it('is behind the authorizer of its scheme', () => {
    const method = methodOf(route.path);
    const authorizerId = method.AuthorizerId?.Ref ?? '';
    expect(method).toMatchObject({ HttpMethod: route.method, AuthorizationType: 'CUSTOM' });
    const authorizer = authorizers.get(authorizerId) as Resource;
    const id = { basic: /^AuthBasic/, bearer: /^AuthBearer/, any: /^AuthAny/ }[route.scheme];
    expect(authorizerId).toMatch(id);
    expect(authorizer.Type).toBe('AWS::ApiGateway::Authorizer');
  });
});

describe('the routes without credentials', () => {
  const open = routes.filter((route) => !takesKey(route));

  it('are two, and those of the page, and touch no store', () => {
    expect(open.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /health',
      'GET /openapi.json',
      'GET /',
      'GET /ui',
      'GET /ui/{proxy+}',
    ]);
    for (const { stores } of open) expect(stores).toEqual({});
  });

  it.each(open)('$path has no authorizer, and no method but GET, and HEAD for /health', ({ path }) => {
    const verbs = path === '/health' ? ['GET', 'HEAD'] : ['GET'];
    expect(methodsOf(path).map(({ HttpMethod }) => HttpMethod)).toEqual(verbs);
    for (const method of methodsOf(path)) {
      expect(method).toMatchObject({ AuthorizationType: 'NONE' });
      expect(method).not.toHaveProperty('AuthorizerId');
    }
  });
});

describe.each(routes)('$method $path', (route) => {
  it('may be invoked by API Gateway only for its methods on this stage', () => {
    const verbs = route.path === '/health' ? ['GET', 'HEAD'] : [route.method];
    const permissions = [...resourcesOf(template, 'AWS::Lambda::Permission').values()]
      .map(({ Properties }) => Properties)
      .filter(({ FunctionName }) => JSON.stringify(FunctionName).includes(`"${functionIdOf(route)}"`));
    const sharing = routes.filter(({ handler }) => handler === route.handler);
    expect(permissions).toHaveLength(sharing.length * verbs.length);
    const [stageId] = resourceOf(template, 'AWS::ApiGateway::Stage');
    const arnPath = route.path.replace(/\{[^}]+\}/g, '*');
    for (const verb of verbs) {
      const own = permissions.filter(({ SourceArn }) =>
        JSON.stringify(SourceArn).includes(`{"Ref":"${stageId}"},"/${verb}${arnPath}"]`),
      );
      expect(own).toMatchObject([{ Action: 'lambda:InvokeFunction', Principal: 'apigateway.amazonaws.com' }]);
    }
  });
});

describe('the API', () => {
  const [apiId, api] = resourceOf(template, 'AWS::ApiGateway::RestApi');
  const [, stage] = resourceOf(template, 'AWS::ApiGateway::Stage');

  it('has the methods of its routes and no other', () => {
    expect(methods.filter(({ HttpMethod }) => HttpMethod !== 'HEAD')).toHaveLength(routes.length);
    expect(methods.filter(({ HttpMethod }) => HttpMethod === 'HEAD')).toHaveLength(1);
  });

  it('is regional and accepts only TLS 1.2 or better, under its own name', () => {
    expect(api.Properties).toMatchObject({
      EndpointConfiguration: { Types: ['REGIONAL'] },
      SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
      EndpointAccessMode: 'STRICT',
    });
  });

  it('has one stage, api, which is throttled and traced', () => {
    expect(stage.Properties).toMatchObject({
      StageName: 'api',
      TracingEnabled: true,
      MethodSettings: [
        { ResourcePath: '/*', HttpMethod: '*', ThrottlingRateLimit: 1000, ThrottlingBurstLimit: 2000 },
      ],
    });
  });

  it('is throttled as configured', () => {
    const [, custom] = resourceOf(
      synthesize({ throttleRate: 20, throttleBurst: 10 }),
      'AWS::ApiGateway::Stage',
    );
    expect(custom.Properties.MethodSettings).toMatchObject([
      { ThrottlingRateLimit: 20, ThrottlingBurstLimit: 10 },
    ]);
  });

  it('logs no execution, no data, and no metrics that cost', () => {
    expect(stage.Properties.MethodSettings).toMatchObject([
      { LoggingLevel: 'OFF', DataTraceEnabled: false, MetricsEnabled: false },
    ]);
  });

  it('writes one JSON line per request, without anything that a caller wrote', () => {
    const { Format } = stage.Properties.AccessLogSetting as { Format: string };
    const line: Record<string, string> = JSON.parse(Format);
    expect(Object.keys(line)).toEqual(
      expect.arrayContaining([
        'requestId',
        'route',
        'status',
        'latency',
        'integrationLatency',
        'keyId',
        'user',
      ]),
    );
    const allowed =
      /^\$context\.(requestId|requestTimeEpoch|identity\.sourceIp|httpMethod|resourcePath|status|error\.responseType|integrationErrorMessage|authorizer\.(keyId|user)|response(Length|Latency)|integration(Latency|Status))$/;
    for (const value of Object.values(line)) expect(value).toMatch(allowed);
  });

  it('is deployed with the role that API Gateway logs with, which stays when the stack is deleted', () => {
    const [accountId, account] = resourceOf(template, 'AWS::ApiGateway::Account');
    expect(account.DeletionPolicy).toBe('Retain');
    expect(stage).toMatchObject({ DependsOn: expect.arrayContaining([accountId]) });
  });

  it('leaves that role to another stack if configured', () => {
    expect(resourcesOf(synthesize({ accountLogRole: false }), 'AWS::ApiGateway::Account').size).toBe(0);
  });

  it('is deployed again when a route, an authorizer or a gateway response changes', () => {
    const deploymentOf = (of: ReturnType<typeof synthesize>) =>
      resourceOf(of, 'AWS::ApiGateway::Deployment')[0];
    const changed = [
      synthesize({}, routes.slice(0, -1)),
      synthesize({ authorizerCacheSeconds: 1 }),
      synthesize({ dialect: 'weave' }),
    ];
    expect(new Set([template, ...changed].map(deploymentOf)).size).toBe(4);
    const again = Template.fromStack(makeStack().stack);
    expect(deploymentOf(again)).toBe(deploymentOf(template));
  });

  it('outputs its URL, which is that of its stage', () => {
    expect(JSON.stringify(template.findOutputs('ApiUrl'))).toContain(`{"Ref":"${apiId}"}`);
  });
});

describe('the authorizers', () => {
  it('are one for each scheme that a route accepts', () => {
    expect(authorizers.size).toBe(3);
    const basic = routes.filter(({ scheme }) => scheme === 'basic');
    expect(resourcesOf(synthesize({}, basic), 'AWS::ApiGateway::Authorizer').size).toBe(1);
  });

  it('cache for as long as configured, or not at all', () => {
    const custom = synthesize({ authorizerCacheSeconds: 0 });
    for (const { Properties } of resourcesOf(custom, 'AWS::ApiGateway::Authorizer').values()) {
      expect(Properties.AuthorizerResultTtlInSeconds).toBe(0);
    }
  });
});
