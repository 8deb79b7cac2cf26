import { describe, expect, it } from 'vitest';
import { routes } from '../../../api/routes.ts';
import { resourceOf, resourcesOf, synthesize } from '../../support/synth.ts';

const template = synthesize();
const [functionId] = resourceOf(template, 'AWS::Lambda::Function', 'AuthAuthorizer');
const authorizers = resourcesOf(template, 'AWS::ApiGateway::Authorizer');

describe('the authorizers', () => {
  it('are one for each scheme that a route accepts', () => {
    expect(authorizers.size).toBe(3);
    const basic = routes.filter(({ scheme }) => scheme === 'basic');
    expect(resourcesOf(synthesize({}, basic), 'AWS::ApiGateway::Authorizer').size).toBe(1);
  });

  it.each([...authorizers])(
    '%s calls the one function by the Authorization header, and caches for a minute',
    (_, { Properties }) => {
      expect(Properties).toMatchObject({
        Type: 'REQUEST',
        IdentitySource: 'method.request.header.Authorization',
        AuthorizerResultTtlInSeconds: 60,
      });
      expect(JSON.stringify(Properties.AuthorizerUri)).toContain(`"${functionId}"`);
    },
  );

  it.each([...authorizers.keys()])('%s may invoke the function', (id) => {
    const permissions = [...resourcesOf(template, 'AWS::Lambda::Permission').values()];
    const own = permissions.filter(({ Properties }) =>
      JSON.stringify(Properties.SourceArn).includes(`"${id}"`),
    );
    expect(own).toHaveLength(1);
    expect(own[0]?.Properties.FunctionName).toEqual({ 'Fn::GetAtt': [functionId, 'Arn'] });
  });

  it('cache for as long as configured, or not at all', () => {
    const custom = synthesize({ authorizerCacheSeconds: 0 });
    for (const { Properties } of resourcesOf(custom, 'AWS::ApiGateway::Authorizer').values()) {
      expect(Properties.AuthorizerResultTtlInSeconds).toBe(0);
    }
  });
});
