import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import {
  AccountRecovery,
  CfnManagedLoginBranding,
  FeaturePlan,
  ManagedLoginVersion,
  Mfa,
  OAuthScope,
  UserPool,
  UserPoolClient,
  UserPoolClientIdentityProvider,
} from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import { mcp } from '../api/mcp.ts';
import type { SignInSettings } from '../foundations/auth/sign-in.ts';
import type { Config } from './config.ts';
import type { Needs } from './permissions.ts';

type Setting = NonNullable<Config['signIn']>;
type CognitoSetting = Extract<Setting, { readonly cognito: unknown }>;

interface SignInProps {
  readonly config: Pick<Config, 'keepData'>;
  readonly settings: Setting;
  /** The name of the service. */
  readonly name: string;
  /** The service's URL, without a slash at its end. */
  readonly url: string;
}

/** Where a command on a person's own machine gets its code. Cognito takes a name and a port as they are. */
const loopbackCallback = 'http://localhost:8789/';

/** The setting `signIn`: what functions know of the issuer, and the user pool if it is the stack's own. */
export class SignIn extends Construct {
  readonly needs: Needs;
  /** Undefined if the issuer is somebody else's. */
  readonly userPool: UserPool | undefined;

  constructor(scope: Construct, id: string, props: SignInProps) {
    super(scope, id);
    const { settings } = props;
    this.userPool = 'cognito' in settings ? this.#userPool(props) : undefined;
    const known =
      'cognito' in settings && this.userPool ? this.#client(this.userPool, settings, props.url) : settings;
    const resource = `${props.url}${mcp.path}`;
    this.needs = { environment: { SIGN_IN: JSON.stringify({ ...known, resource }) } };
  }

  /**
   * The people, who are invited by an administrator of the pool. It is kept like the tables: see
   * docs/decisions/0272 and 0287.
   */
  #userPool({ config: { keepData }, name }: SignInProps): UserPool {
    const pool = new UserPool(this, 'People', {
      userPoolName: name,
      selfSignUpEnabled: false,
      signInAliases: { email: true },
      signInCaseSensitive: false,
      autoVerify: { email: true },
      // A new address counts once it is verified.
      keepOriginal: { email: true },
      mfa: Mfa.OPTIONAL,
      mfaSecondFactor: { otp: true, sms: false },
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      passwordPolicy: {
        minLength: 12,
        requireLowercase: true,
        requireUppercase: true,
        requireDigits: true,
        requireSymbols: true,
        tempPasswordValidity: Duration.days(7),
      },
      // The first plan with the pages of managed login.
      featurePlan: FeaturePlan.ESSENTIALS,
      deletionProtection: keepData,
      removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    Validations.of(pool).acknowledge(
      {
        id: 'AwsSolutions-COG2',
        reason:
          'Everybody can add a second factor. The pool cannot ask those of other identity providers for one.',
      },
      {
        id: 'AwsSolutions-COG8',
        reason: 'The plan Plus is paid for each person a month; operators can choose it in the console.',
      },
    );
    return pool;
  }

  /** The service's client in the pool: code with PKCE, and no secret. */
  #client(pool: UserPool, { cognito, admins }: CognitoSetting, url: string): SignInSettings {
    const page = `${url}/ui/`;
    const client = new UserPoolClient(this, 'Client', {
      userPool: pool,
      generateSecret: false,
      authFlows: { userSrp: true },
      preventUserExistenceErrors: true,
      enableTokenRevocation: true,
      accessTokenValidity: Duration.hours(1),
      idTokenValidity: Duration.hours(1),
      refreshTokenValidity: Duration.days(30),
      refreshTokenRotationGracePeriod: Duration.seconds(60),
      supportedIdentityProviders: [
        UserPoolClientIdentityProvider.COGNITO,
        ...cognito.providers.map(UserPoolClientIdentityProvider.custom),
      ],
      oAuth: {
        flows: { authorizationCodeGrant: true },
        // With the scope of the pool's own API, people could change what is known of them.
        scopes: [OAuthScope.OPENID, OAuthScope.EMAIL, OAuthScope.PROFILE],
        callbackUrls: [page, loopbackCallback],
        logoutUrls: [page],
      },
    });
    const domain = pool.addDomain('Domain', {
      cognitoDomain: { domainPrefix: cognito.domainPrefix },
      managedLoginVersion: ManagedLoginVersion.NEWER_MANAGED_LOGIN,
    });
    new CfnManagedLoginBranding(this, 'Pages', {
      userPoolId: pool.userPoolId,
      clientId: client.userPoolClientId,
      useCognitoProvidedValues: true,
    });
    return {
      issuer: pool.userPoolProviderUrl,
      clientId: client.userPoolClientId,
      // Its access tokens have no address.
      token: 'id',
      scopes: ['openid', 'email', 'profile'],
      groupsClaim: 'cognito:groups',
      admins,
      loopbackRedirectUri: loopbackCallback,
      // It asks for parameters of its own, and takes none of the standard's.
      endSessionEndpoint: `${domain.baseUrl()}/logout?client_id=${client.userPoolClientId}&logout_uri=${page}`,
    };
  }
}
