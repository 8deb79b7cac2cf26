import { describe, expect, it } from 'vitest';
import { everySetting } from '../../support/stack/every-setting.ts';
import { type Resource, synthesize } from '../../support/stack/template.ts';

/*
 * The setting `signIn` in the template.
 */

const issuer = { issuer: 'https://login.example.com', clientId: 'pennytrace', admins: ['ada@example.com'] };
const pool = { cognito: { domainPrefix: 'acme-traces' }, admins: ['ada@example.com'] };

type Written = ReturnType<typeof read>;

/** The template of a stack with settings, as it is written. */
const read = (settings: Record<string, unknown>) =>
  synthesize(settings).toJSON() as { readonly Resources: Readonly<Record<string, Resource>> };

const typesIn = ({ Resources }: Written): string[] => Object.values(Resources).map(({ Type }) => Type);

const withType = ({ Resources }: Written, type: string) =>
  Object.values(Resources).filter(({ Type }) => Type === type);

/** The ids of what one template has and another has not. */
const added = (to: Written, by: Written): string[] =>
  Object.keys(by.Resources).filter((id) => !Object.hasOwn(to.Resources, id));

const off = read({});
const on = read({ signIn: issuer });
const own = read({ signIn: pool });

describe('without the setting', () => {
  it('nothing says where people sign in, and nobody reads members', () => {
    const text = JSON.stringify(off);
    expect(text).not.toContain('SIGN_IN');
    expect(text).not.toContain('sign-in');
    expect(typesIn(off).filter((type) => type.includes('Cognito'))).toEqual([]);
  });
});

describe('with an issuer of the operator', () => {
  it('there are two routes more, and nothing else', () => {
    const ids = added(off, on).filter((id) => !id.startsWith('ApiRestDeployment'));
    expect(ids.map((id) => on.Resources[id]?.Type).toSorted()).toEqual([
      'AWS::ApiGateway::Method',
      'AWS::ApiGateway::Method',
      'AWS::ApiGateway::Resource',
      'AWS::ApiGateway::Resource',
      'AWS::ApiGateway::Resource',
      'AWS::ApiGateway::Resource',
    ]);
  });

  it('functions know /mcp by the URL that clients have, for which tokens may be', () => {
    const { domain } = everySetting;
    const named = JSON.stringify(read({ signIn: issuer, domain }).Resources);
    expect(named).toContain('\\"resource\\":\\"https://tracing.example.com/mcp\\"');
    expect(named).not.toContain('loopbackRedirectUri');
    const own = read({ signIn: { ...issuer, loopbackRedirectUri: 'http://localhost:8789/' } });
    expect(JSON.stringify(own)).toContain('\\"loopbackRedirectUri\\":\\"http://localhost:8789/\\"');
  });

  it('the authorizer, the page, what answers GET /sign-in and what makes keys know it', () => {
    const knowing = Object.entries(on.Resources).filter(([, { Properties }]) =>
      JSON.stringify(Properties ?? {}).includes('SIGN_IN'),
    );
    expect(knowing.map(([id]) => id.replace(/Function\w{8}$/, '')).toSorted()).toEqual([
      'AuthAuthorizer',
      'FunctionsHealth',
      'FunctionsPeople',
      'FunctionsUi',
    ]);
  });

  it('the route is open and throttled, as others without a key', () => {
    expect(JSON.stringify(withType(on, 'AWS::ApiGateway::Stage'))).toContain('"ResourcePath":"/~1sign-in"');
  });
});

describe('with a user pool', () => {
  const [people] = withType(own, 'AWS::Cognito::UserPool');
  const [client] = withType(own, 'AWS::Cognito::UserPoolClient');

  it('there are four resources more', () => {
    expect(
      typesIn(own)
        .filter((type) => type.includes('Cognito'))
        .toSorted(),
    ).toEqual([
      'AWS::Cognito::ManagedLoginBranding',
      'AWS::Cognito::UserPool',
      'AWS::Cognito::UserPoolClient',
      'AWS::Cognito::UserPoolDomain',
    ]);
  });

  it('nobody can register, and addresses are verified', () => {
    expect(people?.Properties).toMatchObject({
      AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
      AutoVerifiedAttributes: ['email'],
      UserAttributeUpdateSettings: { AttributesRequireVerificationBeforeUpdate: ['email'] },
    });
  });

  it('the pool is protected and kept like the tables, unless data are not', () => {
    expect(people).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: { DeletionProtection: 'ACTIVE' },
    });
    const [loose] = withType(read({ signIn: pool, keepData: false }), 'AWS::Cognito::UserPool');
    expect(loose).toMatchObject({ DeletionPolicy: 'Delete', Properties: { DeletionProtection: 'INACTIVE' } });
  });

  it('the client has no secret, and may do nothing but sign people in', () => {
    expect(client?.Properties).toMatchObject({
      GenerateSecret: false,
      AllowedOAuthFlows: ['code'],
      AllowedOAuthScopes: ['openid', 'email', 'profile'],
      RefreshTokenRotation: { Feature: 'ENABLED' },
      SupportedIdentityProviders: ['COGNITO'],
    });
    expect(JSON.stringify(client?.Properties)).not.toContain('ALLOW_REFRESH_TOKEN_AUTH');
  });

  it('the page is where people come back to, by the name that the API has', () => {
    const { domain } = everySetting;
    const [named] = withType(read({ signIn: pool, domain }), 'AWS::Cognito::UserPoolClient');
    expect(named?.Properties).toMatchObject({
      CallbackURLs: ['https://tracing.example.com/ui/', 'http://localhost:8789/'],
      LogoutURLs: ['https://tracing.example.com/ui/'],
    });
    // Commands hear of the one address that the pool takes.
    expect(JSON.stringify(own)).toContain('\\"loopbackRedirectUri\\":\\"http://localhost:8789/\\"');
  });

  it('other identity providers are offered beside it', () => {
    const signIn = { ...pool, cognito: { ...pool.cognito, providers: ['Okta'] } };
    const [offering] = withType(read({ signIn }), 'AWS::Cognito::UserPoolClient');
    expect(offering?.Properties).toMatchObject({ SupportedIdentityProviders: ['COGNITO', 'Okta'] });
  });
});
