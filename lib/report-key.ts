import { CustomResource, Duration, RemovalPolicy, SecretValue, Stack, Token, Validations } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { isUser } from '../foundations/auth/keys.ts';
import { parseProjectId } from '../foundations/wire/ids.ts';
import type { Config } from './config.ts';
import { keyMakerHandler } from './handlers.ts';
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
   * Any text. Another one makes a new key at the next deployment, and revokes the old one when the
   * function has the new.
   *
   * @default - the key stays
   */
  readonly rotation?: string | undefined;
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
const toUser = (reporter: LambdaFunction): string =>
  reporter.node.path.replaceAll(/[:"\\]/g, '-').slice(-maxUserLength);

/** Throws an Error that says what to write instead. Tokens are checked at deployment. */
const check = (user: string, project: string, reporter: LambdaFunction, maker: LambdaFunction): void => {
  const refuse = (what: string): never => {
    throw new Error(`grantReport(${reporter.node.path}): ${what}`);
  };
  if (!Token.isUnresolved(project) && parseProjectId(project) === undefined)
    refuse(`project is ${JSON.stringify(project)}: write <entity>/<project>`);
  if (!Token.isUnresolved(user) && !isUser(user))
    refuse(`user is ${JSON.stringify(user)}: write 1 to 128 printable characters, without : " and \\`);
  const here = Stack.of(reporter).region;
  const there = Stack.of(maker).region;
  if (!Token.isUnresolved([here, there]) && here !== there)
    refuse(`it is in ${here}, the service in ${there}: make a key with npm run keys instead`);
};

/**
 * A key for one function, made at deployment and revoked with the stack. It belongs to the
 * function's own stack, so that a rotation changes no value that another stack imports.
 */
export class ReportKey extends Construct {
  /** Holds `key` and `headers`, as JSON. */
  readonly secret: Secret;

  /** @throws Error if an option makes no sense */
  constructor(reporter: LambdaFunction, id: string, props: ReportKeyProps) {
    super(reporter, id);
    const { apiUrl, maker, project, user = toUser(reporter), rotation } = props;
    check(user, project, reporter, maker);
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
