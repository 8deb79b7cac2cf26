import { Aws, Duration } from 'aws-cdk-lib';
import { IdentitySource, RequestAuthorizer } from 'aws-cdk-lib/aws-apigateway';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import * as access from '../api/access.ts';
import { type Route, takesKey } from '../api/endpoint.ts';
import type { AcceptedScheme } from '../foundations/auth/index.ts';
import { tables } from '../foundations/storage/tables.ts';
import { type Config, constructId } from './config.ts';
import { busNeeds, type Needs, tableNeeds } from './permissions.ts';
import { ServiceFunction } from './service-function.ts';
import type { SignIn } from './sign-in.ts';
import { makeTable } from './storage.ts';

interface AuthProps {
  readonly config: Config;
  readonly routes: readonly Route[];
  /** Each handler's bundle; the authorizer's is `authorizer`. */
  readonly bundles: ReadonlyMap<string, string>;
  /** The service's URL, without a slash at its end. */
  readonly url: string;
  /** Where people sign in; undefined without the setting `signIn`. */
  readonly signIn: SignIn | undefined;
  /** The audit trail. */
  readonly audit: Table;
}

/** What callers that sign have to sign for. Asking STS who signed takes no permission. */
const iamNeeds = (url: string): Needs => ({
  environment: {
    IAM_SERVICE_URL: url,
    IAM_PARTITION: Aws.PARTITION,
    IAM_STS_URL: `https://sts.${Aws.REGION}.${Aws.URL_SUFFIX}`,
  },
});

/** What it takes to note on which day a key is used: no other attribute of the table can be written, or read. */
const noteUseNeeds = ({ tableArn }: Table): Needs => ({
  permissions: [
    {
      actions: ['dynamodb:UpdateItem'],
      resource: tableArn,
      conditions: {
        'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['id', 'usedOn'] },
        StringEqualsIfExists: { 'dynamodb:ReturnValues': ['NONE'] },
      },
    },
  ],
});

/** What it takes to audit who signs in. */
const auditNeeds = ({ auditDays, events }: Config, audit: Table): readonly (Needs | undefined)[] => [
  tableNeeds('audit', audit, access.audit.append),
  { environment: { AUDIT_DAYS: String(auditDays) } },
  events && busNeeds(events.bus),
];

/** The table of keys, the function that looks keys up, and an authorizer for each scheme. */
export class Auth extends Construct {
  readonly keys: Table;
  readonly function: ServiceFunction;
  /**
   * An authorizer caches answers by header alone. With one for each scheme, an answer for one
   * scheme never opens the routes of another.
   */
  readonly #authorizers: ReadonlyMap<AcceptedScheme, RequestAuthorizer>;

  constructor(scope: Construct, id: string, { config, routes, bundles, url, signIn, audit }: AuthProps) {
    super(scope, id);
    this.keys = makeTable(this, tables.keys, config);
    const keyed = routes.filter(takesKey);
    const others = keyed.filter(({ scheme }) => scheme !== 'basic');
    this.function = new ServiceFunction(this, 'Authorizer', {
      service: { config, bundles },
      handler: 'authorizer',
      description: 'Looks up the key of a request',
      memoryMb: 512,
      timeoutSeconds: 10,
      needs: [
        // What a person's groups are granted is read at once.
        tableNeeds('keys', this.keys, { table: signIn ? ['GetItem', 'BatchGetItem'] : ['GetItem'] }),
        ...(signIn ? [signIn.needs, ...auditNeeds(config, audit)] : []),
        noteUseNeeds(this.keys),
        config.iam ? iamNeeds(url) : undefined,
        {
          environment: {
            SCHEMES: JSON.stringify(Object.fromEntries(others.map(({ path, scheme }) => [path, scheme]))),
            CACHE_SECONDS: String(config.authorizerCacheSeconds),
          },
        },
      ],
    });
    const schemes = new Set(keyed.map(({ scheme }) => scheme));
    this.#authorizers = new Map([...schemes].map((scheme) => [scheme, this.#authorizer(scheme, config)]));
  }

  /** The authorizer of a scheme. Throws an Error if no route takes the scheme. */
  authorizer(scheme: AcceptedScheme): RequestAuthorizer {
    const found = this.#authorizers.get(scheme);
    if (!found) throw new Error(`no route takes the ${scheme} scheme`);
    return found;
  }

  /**
   * The gateway asks for every header that it caches by. Routes of `bearer` take one of two,
   * so the gateway caches nothing there, and the function remembers keys. See docs/decisions/0264.
   */
  #authorizer(scheme: AcceptedScheme, { authorizerCacheSeconds }: Config): RequestAuthorizer {
    const isCached = scheme !== 'bearer';
    // An update of an authorizer does not take its identity sources away, so this one has another id
    // than the one that had them.
    return new RequestAuthorizer(this, isCached ? constructId(scheme) : 'BearerOrApiKey', {
      handler: this.function.handler,
      identitySources: isCached ? [IdentitySource.header('Authorization')] : [],
      resultsCacheTtl: Duration.seconds(isCached ? authorizerCacheSeconds : 0),
    });
  }
}
