import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type Route, takesKey } from '../api/endpoint.ts';
import { type Config, constructId } from './config.ts';
import { type Features, featuresOfRoute } from './features.ts';
import { type Needs, storeNeeds } from './permissions.ts';
import type { Service } from './service.ts';
import { makeLogGroup, ServiceFunction } from './service-function.ts';

interface RouteFunctionsProps {
  readonly routes: readonly Route[];
  readonly service: Service;
  readonly features: Features;
}

/** The functions behind the endpoints: one a route, but for the page, whose routes share one. */
export class Functions extends Construct {
  /**
   * Where all of them log. The function of a line is known by its log stream, which Lambda names `<year>/<month>/<day>/<function>[<version>][<container>]`
   * (https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-loggroups.html).
   */
  readonly logGroup: ILogGroup;
  readonly #byRoute = new Map<Route, ServiceFunction>();

  constructor(scope: Construct, id: string, config: Pick<Config, 'logRetentionDays'>) {
    super(scope, id);
    this.logGroup = makeLogGroup(this, 'Log', config);
  }

  /** Makes the functions of routes. */
  add(props: RouteFunctionsProps): void {
    const byHandler = new Map<string, ServiceFunction>();
    for (const route of props.routes) {
      // Routes that share a handler share its function, too.
      const made = byHandler.get(route.handler) ?? this.#make(route, props);
      byHandler.set(route.handler, made);
      this.#byRoute.set(route, made);
    }
  }

  #make(route: Route, { routes, service, features }: RouteFunctionsProps): ServiceFunction {
    const { inference } = service;
    const added = featuresOfRoute(route, features);
    return new ServiceFunction(this, constructId(route.handler), {
      service,
      handler: added.handler,
      description: describeRoute(route, routes),
      memoryMb: route.memoryMb,
      timeoutSeconds: route.timeoutSeconds,
      logGroup: this.logGroup,
      needs: [
        storeNeeds(route.stores, service),
        requestNeeds(route, service),
        route.signIn ? service.signIn?.needs : undefined,
        route.upstreams === 'ask' ? inference.needs : undefined,
        route.upstreams === 'list' ? inference.list : undefined,
        ...added.needs,
      ],
      ...(route.upstreams === 'ask' && { reservedConcurrency: inference.reservedConcurrency }),
    });
  }

  /** The function of a route. Throws an Error if none was made for the route. */
  getFunction(route: Route): ServiceFunction {
    const found = this.#byRoute.get(route);
    if (!found) throw new Error(`no function was made for ${route.path}`);
    return found;
  }
}

/** What requests a route's function answers: `POST /call/read`; several if routes share it. */
const describeRoute = ({ handler }: Route, routes: readonly Route[]): string =>
  routes
    .filter((other) => other.handler === handler)
    .map(({ method, path }) => `${method} ${path}`)
    .join(', ');

/** What the function of a route needs to answer and to count requests, whatever they are about. */
const requestNeeds = (route: Route, { config, name }: Pick<Service, 'config' | 'name'>): Needs => ({
  environment: {
    ...(config.corsOrigins && takesKey(route) && { CORS_ORIGINS: config.corsOrigins.join() }),
    ...(config.routeMetrics?.includes(route.path) && { METRICS_NAMESPACE: name }),
  },
});
