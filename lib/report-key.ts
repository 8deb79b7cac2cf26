import {
  CfnResource,
  CustomResource,
  Duration,
  RemovalPolicy,
  SecretValue,
  Stack,
  Token,
  Validations,
} from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct, type IConstruct } from 'constructs';
import { isUser } from '../foundations/auth/keys.ts';
import { parseProjectId } from '../foundations/wire/ids.ts';
import type { Config } from './config.ts';
import { keyMakerHandler } from './handlers.ts';
import { withOwnCommands } from './packaged.ts';
import { tableNeeds } from './permissions.ts';
import { ServiceFunction } from './service-function.ts';

interface KeyMakerProps {
  readonly config: Config;
  /** Each handler's bundle. */
  readonly bundles: ReadonlyMap<string, string>;
  /** Where keys are kept. */
  readonly keys: Table;
}

/** How long it may take for one key, its retries and a new policy included, in seconds. */
const timeoutSeconds = 60;

/**
 * The function behind the keys that are made at deployment. Its role may write keys and nothing
 * else; each secret lets it in by a policy of the secret's own.
 */
export class KeyMaker extends Construct {
  readonly function: ServiceFunction;

  constructor(scope: Construct, id: string, { config, bundles, keys }: KeyMakerProps) {
    super(scope, id);
    this.function = new ServiceFunction(this, 'Maker', {
      service: { config, bundles },
      handler: keyMakerHandler,
      description: 'Makes and revokes the keys of functions that report',
      memoryMb: 512,
      timeoutSeconds,
      needs: [tableNeeds('keys', keys, { table: ['PutItem', 'UpdateItem'] })],
      withoutQueue: 'Only CloudFormation invokes it. It hears of every failure, and stops waiting by itself.',
    });
  }
}

/** What a function reports to, and as whom. */
export interface ReportOptions {
  /** The project, `<entity>/<project>`. The key may write to it, which includes reading it. */
  readonly project: string;

  /**
   * The user that its calls are attributed to: 1 to 128 printable characters without `:`.
   *
   * @default - the path of the function's construct
   */
  readonly user?: string | undefined;

  /**
   * A function that sends a key. With `role` it signs: {@link RoleReportOptions}.
   *
   * @default 'key'
   */
  readonly auth?: 'key' | undefined;

  /**
   * Any text. Another one makes a new key at the next deployment, and revokes the old one when the
   * function has the new.
   *
   * @default - the key stays
   */
  readonly rotation?: string | undefined;
}

/** What a role reports to. */
export interface RoleReportOptions {
  /** The project, `<entity>/<project>`. The role may write to it, which includes reading it. */
  readonly project: string;
  /** The role signs its requests in place of sending a key. It needs the setting `iam`. */
  readonly auth: 'role';
}

interface ReportKeyProps extends ReportOptions {
  /** The service's base URL, with a slash at its end. */
  readonly apiUrl: string;
  /** The function that makes keys. */
  readonly maker: LambdaFunction;
}

/** CloudFormation stops waiting for a key after this. */
const patience = Duration.minutes(3);

const maxUserLength = 128;

/** The path of the function, its end if it is too long. No path has a colon. */
const toUser = (reporter: IConstruct): string =>
  reporter.node.path.replaceAll(/[:"\\]/g, '-').slice(-maxUserLength);

const reportError = (reporter: IConstruct, what: string): Error =>
  new Error(`grantReport(${reporter.node.path}): ${what}`);

/** Throws an Error that says what to write instead. Tokens are checked at deployment. */
const check = (
  { project, user }: Pick<ReportOptions, 'project' | 'user'>,
  reporter: IConstruct,
  maker: LambdaFunction,
): void => {
  const refuse = (what: string): never => {
    throw reportError(reporter, what);
  };
  if (!Token.isUnresolved(project) && parseProjectId(project) === undefined)
    refuse(`project is ${JSON.stringify(project)}: write <entity>/<project>`);
  if (user !== undefined && !Token.isUnresolved(user) && !isUser(user))
    refuse(`user is ${JSON.stringify(user)}: write 1 to 128 printable characters, without : " and \\`);
  const here = Stack.of(reporter).region;
  const there = Stack.of(maker).region;
  if (!Token.isUnresolved([here, there]) && here !== there)
    refuse(
      `it is in ${here}, the service in ${there}: ${withOwnCommands('use npm run keys instead, for a key or a role')}`,
    );
};

interface ReportRoleProps {
  readonly project: string;
  /** The service's URL, without a slash at its end. */
  readonly url: string;
  /** Whether callers may sign. */
  readonly iam: boolean;
  /** The function that writes what roles are granted. */
  readonly maker: LambdaFunction;
}

const isFunction = (reporter: LambdaFunction | IRole): reporter is LambdaFunction =>
  'addEnvironment' in reporter;

/**
 * What a role is granted at deployment, and no longer when it goes. It belongs to the reporter's own stack,
 * as {@link ReportKey} does.
 */
export class ReportRole extends Construct {
  /** @throws Error if an option makes no sense */
  constructor(reporter: LambdaFunction | IRole, id: string, { project, url, iam, maker }: ReportRoleProps) {
    super(reporter, id);
    if (!iam) throw reportError(reporter, "auth is 'role': set iam to true, or leave auth out");
    check({ project }, reporter, maker);
    const role = isFunction(reporter) ? reporter.role : reporter;
    if (!role) throw reportError(reporter, 'the function has no role that could be granted something');
    const grant = new CustomResource(this, 'Grant', {
      serviceToken: maker.functionArn,
      resourceType: 'Custom::PennytraceRole',
      serviceTimeout: patience,
      properties: { Role: role.roleArn, Project: project },
    });
    if (!isFunction(reporter)) return;
    reporter.addEnvironment('PENNYTRACE_URL', url);
    reporter.addEnvironment('PENNYTRACE_PROJECT', project);
    // The first request of the function finds the grant there.
    const [made, granted] = [reporter, grant].map(({ node }) => node.defaultChild);
    if (CfnResource.isCfnResource(made) && CfnResource.isCfnResource(granted))
      made.addResourceDependency(granted);
  }
}

/**
 * A key for one function, made at deployment and revoked with the stack. It belongs to the
 * function's own stack, so that a rotation changes no value that another stack imports.
 */
export class ReportKey extends Construct {
  /** Holds `key` and `headers`, as JSON. */
  readonly secret: Secret;

  /** @throws Error if an option makes no sense */
  constructor(reporter: LambdaFunction | IRole, id: string, props: ReportKeyProps) {
    super(reporter, id);
    if (!isFunction(reporter)) throw reportError(reporter, "a role has no key: write auth: 'role'");
    const { apiUrl, maker, project, user = toUser(reporter), rotation } = props;
    check({ project, user }, reporter, maker);
    const secret = this.#secret(project, maker);
    const key = new CustomResource(this, 'Key', {
      serviceToken: maker.functionArn,
      resourceType: 'Custom::PennytraceKey',
      serviceTimeout: patience,
      properties: { Secret: secret.secretArn, Project: project, User: user, Rotation: rotation },
    });
    // The maker may not touch the secret before its policy is there.
    key.node.addDependency(secret);
    // Without the version, a function would keep the headers of a key that is revoked.
    const headers = SecretValue.secretsManager(secret.secretArn, {
      jsonField: 'headers',
      versionId: key.getAttString('VersionId'),
    });
    reporter.addEnvironment('OTEL_EXPORTER_OTLP_ENDPOINT', `${apiUrl}otel`);
    reporter.addEnvironment('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/protobuf');
    reporter.addEnvironment('OTEL_EXPORTER_OTLP_HEADERS', headers.unsafeUnwrap());
    this.secret = secret;
  }

  #secret(project: string, maker: LambdaFunction): Secret {
    const secret = new Secret(this, 'Secret', {
      description: `A key of pennytrace for ${project}`,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const { role } = maker;
    if (!role) throw new Error('the function that makes keys has no role');
    secret.addToResourcePolicy(
      new PolicyStatement({
        actions: ['secretsmanager:GetSecretValue', 'secretsmanager:PutSecretValue'],
        principals: [role],
        resources: ['*'],
      }),
    );
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'A deployment with another `rotation` changes the key: the function needs the new one, too.',
    });
    return secret;
  }
}
