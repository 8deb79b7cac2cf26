import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, Function as LambdaFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { type ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Config } from './config.ts';
import { getBundle } from './handlers.ts';
import { combine, type Needs, type Permission } from './permissions.ts';
import type { Redaction } from './redaction.ts';

/** A log group that keeps lines for as long as the settings say, and goes with the stack. */
export const makeLogGroup = (
  scope: Construct,
  id: string,
  { logRetentionDays }: Pick<Config, 'logRetentionDays'>,
): LogGroup => new LogGroup(scope, id, { retention: logRetentionDays, removalPolicy: RemovalPolicy.DESTROY });

interface ServiceFunctionProps {
  /** What it is made from. Without `redaction` the function stores what it is sent as it is. */
  readonly service: {
    readonly config: Config;
    /** Each handler's bundle. */
    readonly bundles: ReadonlyMap<string, string>;
    readonly redaction?: Redaction | undefined;
  };
  /** Its handler's name. */
  readonly handler: string;
  readonly description: string;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  /** What it needs besides writing its log and its traces. */
  readonly needs: readonly (Needs | undefined)[];
  /** Where its lines go, beside those of other functions. @default - a log group of its own */
  readonly logGroup?: ILogGroup;
  /**
   * Concurrent invocations that are reserved for it. It gets no more than these. @default - none:
   * it takes from what the account has
   */
  readonly reservedConcurrency?: number | undefined;
  /**
   * Why no queue takes the events that it fails for. @default - it is only invoked synchronously
   */
  readonly withoutQueue?: string;
}

/** One function, with a role of its own that allows what the function needs and nothing else. */
export class ServiceFunction extends Construct {
  readonly handler: LambdaFunction;
  readonly logGroup: ILogGroup;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    const { config, bundles, redaction } = props.service;
    const { environment, permissions, storesReports, showsRules } = combine(props.needs);
    const redacting = storesReports ? redaction : undefined;
    this.logGroup = props.logGroup ?? makeLogGroup(this, 'Log', config);
    this.handler = new LambdaFunction(this, 'Function', {
      description: props.description,
      code: Code.fromAsset(
        (storesReports || showsRules) && redaction
          ? redaction.code(props.handler, storesReports)
          : getBundle(bundles, props.handler),
      ),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memoryMb,
      timeout: Duration.seconds(props.timeoutSeconds),
      ...(config.xray && { tracing: Tracing.ACTIVE }),
      ...(props.reservedConcurrency !== undefined && {
        reservedConcurrentExecutions: props.reservedConcurrency,
      }),
      logGroup: this.logGroup,
      // The role is complete. CDK would add a second policy for what it thinks is missing.
      role: this.#role([...(config.xray ? [trace] : []), ...permissions]).withoutPolicyUpdates(),
      environment: { ...environment, ...redacting?.environment },
    });
    Validations.of(this.handler).acknowledge({
      id: 'Serverless-LambdaDLQ',
      reason:
        props.withoutQueue ??
        'Only ever invoked synchronously: the caller sees the failure and repeats the request.',
    });
    if (!config.xray)
      Validations.of(this.handler).acknowledge({
        id: 'Serverless-LambdaTracing',
        reason: 'The setting xray switches it on. It is paid for, and off by default.',
      });
  }

  #role(permissions: readonly Permission[]): Role {
    const log: Permission = {
      actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      resource: this.logGroup.logGroupArn,
    };
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        access: new PolicyDocument({ statements: [log, ...permissions].map(statement) }),
      },
    });
    for (const { wildcard } of permissions) {
      if (!wildcard) continue;
      const { finding, reason } = wildcard;
      Validations.of(role).acknowledge({ id: `AwsSolutions-IAM5[Resource::${finding}]`, reason });
    }
    Validations.of(role).acknowledge({
      id: 'Serverless-LambdaStarPermissions',
      reason: 'Each wildcard has its own reason, under AwsSolutions-IAM5; no action has one.',
    });
    return role;
  }
}

const trace = {
  actions: ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'],
  resource: '*',
  wildcard: { finding: '*', reason: 'These two X-Ray actions take no narrower resource.' },
} satisfies Permission;

const statement = ({ actions, resource, conditions }: Permission): PolicyStatement =>
  new PolicyStatement({
    actions: [...actions],
    resources: [resource],
    ...(conditions && { conditions }),
  });
