import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type Route, takesKey } from '../api/endpoint.ts';
import { tables } from '../foundations/storage/tables.ts';
import type { Alerts } from './alerts.ts';
import { type Config, constructId } from './config.ts';
import type { Evaluations } from './evaluators.ts';
import { bundleOf, limitsHandler } from './handlers.ts';
import type { Inference } from './inference.ts';
import { limitsNeeds } from './limits.ts';
import { storePermissions } from './permissions.ts';
import { type Redaction, storesReports } from './redaction.ts';
import { makeLogGroup, ServiceFunction } from './service-function.ts';
import type { Storage } from './storage.ts';

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
  const keepsFeedback = feedback === 'serve' && config.keepFeedback;
  // Files and tables are in the table of objects.
  const objects = route.stores.objects ?? route.stores.files ?? route.stores.tables;
  const storing = Object.keys(route.stores).length > 0;
  return {
    ...(storing && { SHARDS: config.shards.join(',') }),
    ...(config.corsOrigins && takesKey(route) && { CORS_ORIGINS: config.corsOrigins.join() }),
    ...(config.routeMetrics?.includes(route.path) && { METRICS_NAMESPACE: name }),
    ...(storing && config.retentionDays !== undefined && { RETENTION_DAYS: String(config.retentionDays) }),
    ...(calls && { [tables.calls.variable]: storage.calls.tableName }),
    ...(objects && { [tables.objects.variable]: storage.objects.tableName }),
    ...((payloads || objects || feedback) && { PAYLOADS_BUCKET: storage.payloads.bucketName }),
    ...(costs && { [tables.costs.variable]: storage.costs.tableName }),
    ...(feedback && { [tables.feedback.variable]: storage.feedback.tableName }),
    ...(keepsFeedback && { KEEP_FEEDBACK: '1' }),
    ...(rollups && { [tables.rollups.variable]: storage.rollups.tableName }),
  };
};
