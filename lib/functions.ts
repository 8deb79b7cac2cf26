import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, Function as LambdaFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { type ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Route } from '../api/endpoint.ts';
import { tables } from '../foundations/storage/tables.ts';
import type { Alerts } from './alerts.ts';
import { type Config, constructId } from './config.ts';
import type { Evaluations } from './evaluators.ts';
import { bundleOf, limitsHandler } from './handlers.ts';
import type { Inference } from './inference.ts';
import { limitsNeeds } from './limits.ts';
import { type Permission, storePermissions } from './permissions.ts';
import { type Redaction, storesReports } from './redaction.ts';
import type { Storage } from './storage.ts';

/** A log group that keeps lines for as long as the settings say, and goes with the stack. */
export const makeLogGroup = (
  scope: Construct,
  id: string,
  { logRetentionDays }: Pick<Config, 'logRetentionDays'>,
): LogGroup => new LogGroup(scope, id, { retention: logRetentionDays, removalPolicy: RemovalPolicy.DESTROY });

interface ServiceFunctionProps {
  readonly config: Config;
  /** The folder of its bundle. */
  readonly code: string;
  readonly description: string;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  readonly environment: Readonly<Record<string, string>>;
  /** What it may do besides writing its log and its traces. */
  readonly permissions: readonly Permission[];
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
    const { config } = props;
    this.logGroup = props.logGroup ?? makeLogGroup(this, 'Log', config);
    this.handler = new LambdaFunction(this, 'Function', {
      description: props.description,
      code: Code.fromAsset(props.code),
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
      role: this.#role([...(config.xray ? [trace] : []), ...props.permissions]).withoutPolicyUpdates(),
      environment: {
        ...(config.dialect !== 'svc' && { DIALECT: config.dialect }),
        ...props.environment,
      },
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

const statement = ({ actions, resource }: Permission): PolicyStatement =>
  new PolicyStatement({ actions: [...actions], resources: [resource] });

interface FunctionsProps {
  readonly config: Config;
  /** The name of the service. */
  readonly name: string;
  readonly routes: readonly Route[];
  readonly storage: Storage;
  readonly inference: Inference;
  /** What redacts what functions store; undefined without the setting. */
  readonly redaction: Redaction | undefined;
  /** What evaluators are to judge; undefined without the setting. */
  readonly evaluations: Evaluations | undefined;
  /** What looks at alerts; undefined without the setting. */
  readonly alerts: Alerts | undefined;
  /** Each handler's bundle. */
  readonly bundles: ReadonlyMap<string, string>;
}

/** The functions behind the endpoints: one a route, but for the page, whose routes share one. */
export class Functions extends Construct {
  /**
   * Where all of them log. The function of a line is known by its log stream, which Lambda names `<year>/<month>/<day>/<function>[<version>][<container>]`
   * (https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-loggroups.html).
   */
  readonly logGroup: ILogGroup;
  readonly #byRoute: Map<Route, ServiceFunction>;

  constructor(scope: Construct, id: string, props: FunctionsProps) {
    super(scope, id);
    const { config, routes } = props;
    const logGroup = makeLogGroup(this, 'Log', config);
    this.logGroup = logGroup;
    this.#byRoute = new Map();
    const byHandler = new Map<string, ServiceFunction>();
    for (const route of routes) {
      // Routes that share a handler share its function, too.
      const made = byHandler.get(route.handler) ?? this.#make(route, logGroup, props);
      byHandler.set(route.handler, made);
      this.#byRoute.set(route, made);
    }
  }

  #make(route: Route, logGroup: ILogGroup, props: FunctionsProps) {
    const { config, routes, storage, inference, bundles } = props;
    const showsLimits = config.limits !== undefined && route.limits === 'show';
    const handler = showsLimits ? limitsHandler : route.handler;
    const scorer = route.evaluations ? props.evaluations?.scorer(props) : undefined;
    const redaction = scorer || storesReports(route) ? props.redaction : undefined;
    const alerts = route.alerts ? props.alerts : undefined;
    const limits = limitsNeeds(route.limits, config, storage);
    return new ServiceFunction(this, constructId(route.handler), {
      config,
      code: redaction?.code(handler) ?? bundleOf(bundles, handler),
      description: descriptionOf(route, routes),
      memoryMb: route.memoryMb,
      timeoutSeconds: route.timeoutSeconds,
      logGroup,
      environment: {
        ...environmentOf(route, props),
        ...(route.upstreams && inference.needs.environment),
        ...redaction?.environment,
        ...scorer?.environment,
        ...alerts?.environment,
        ...limits.environment,
      },
      permissions: [
        ...storePermissions(route.stores, storage),
        ...(route.upstreams ? inference.needs.permissions : []),
        ...(scorer?.permissions ?? []),
        ...(alerts && route.alerts === 'test' ? [alerts.permission] : []),
        ...limits.permissions,
      ],
      ...(route.upstreams && { reservedConcurrency: inference.reservedConcurrency }),
    });
  }

  /** The function of a route. Throws an Error if none was made for the route. */
  of(route: Route): ServiceFunction {
    const found = this.#byRoute.get(route);
    if (!found) throw new Error(`no function was made for ${route.path}`);
    return found;
  }
}

/** What requests a route's function answers: `POST /call/read`; several if routes share it. */
const descriptionOf = ({ handler }: Route, routes: readonly Route[]): string =>
  routes
    .filter((other) => other.handler === handler)
    .map(({ method, path }) => `${method} ${path}`)
    .join(', ');

const environmentOf = (route: Route, { config, name, storage }: FunctionsProps): Record<string, string> => {
  const { calls, payloads, costs, feedback, rollups } = route.stores;
  // Files and tables are in the table of objects.
  const objects = route.stores.objects ?? route.stores.files ?? route.stores.tables;
  const storing = Object.keys(route.stores).length > 0;
  return {
    ...(storing && { SHARDS: config.shards.join(',') }),
    ...(config.routeMetrics?.includes(route.path) && { METRICS_NAMESPACE: name }),
    ...(storing && config.retentionDays !== undefined && { RETENTION_DAYS: String(config.retentionDays) }),
    ...(calls && { [tables.calls.variable]: storage.calls.tableName }),
    ...(objects && { [tables.objects.variable]: storage.objects.tableName }),
    ...((payloads || objects || feedback) && { PAYLOADS_BUCKET: storage.payloads.bucketName }),
    ...(costs && { [tables.costs.variable]: storage.costs.tableName }),
    ...(feedback && { [tables.feedback.variable]: storage.feedback.tableName }),
    ...(rollups && { [tables.rollups.variable]: storage.rollups.tableName }),
  };
};
