import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Route } from '../api/routes.ts';
import { tables } from '../core/foundations/storage/tables.ts';
import type { Config } from './config.ts';
import type { Inference } from './inference.ts';
import { makeLogGroup } from './log-group.ts';
import { constructId } from './names.ts';
import { permissionsOf } from './permissions.ts';
import { ServiceFunction } from './service-function.ts';
import type { Storage } from './storage.ts';

export interface FunctionsProps {
  readonly config: Config;
  /** The name of the service. */
  readonly name: string;
  readonly routes: readonly Route[];
  readonly storage: Storage;
  readonly inference: Inference;
  /** Each handler's bundle. */
  readonly bundles: ReadonlyMap<string, string>;
}

/** The functions behind the endpoints: one a route, but for the page, whose routes share one. */
export class Functions extends Construct {
  /**
   * Where all of them log. The name of a log stream tells the function of its lines: Lambda calls
   * streams `<year>/<month>/<day>/<function>[<version>][<container>]`
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
    return new ServiceFunction(this, constructId(route.handler), {
      config,
      code: bundleOf(bundles, route.handler),
      description: descriptionOf(route, routes),
      memoryMb: route.memoryMb,
      timeoutSeconds: route.timeoutSeconds,
      logGroup,
      environment: {
        ...environmentOf(route, props),
        ...(route.upstreams && inference.environment),
      },
      permissions: [...permissionsOf(route, storage), ...(route.upstreams ? inference.permissions : [])],
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

/** The folder of a handler's bundle. Throws an Error if there is none. */
export const bundleOf = (bundles: ReadonlyMap<string, string>, handler: string): string => {
  const folder = bundles.get(handler);
  if (folder === undefined) throw new Error(`lambdas/${handler}.ts was not bundled`);
  return folder;
};

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
