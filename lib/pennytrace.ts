import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Aws, Lazy, Stack, Tags } from 'aws-cdk-lib';
import type { UserPool } from 'aws-cdk-lib/aws-cognito';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { IEventBus } from 'aws-cdk-lib/aws-events';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { isKeyed, type Route } from '../api/endpoint.ts';
import { allRoutes } from '../api/routes.ts';
import type { AnalyticsBucket } from './analytics-catalog.ts';
import { Api } from './api.ts';
import { Auth } from './auth.ts';
import { unpackFolder } from './bundle-archive.ts';
import { type Config, readConfig } from './config.ts';
import { everyHandler, listWatched, makeFeatures, readsStreams } from './features.ts';
import { Functions } from './functions.ts';
import { Inference } from './inference.ts';
import { Observability } from './observability.ts';
import { bundlesArchive } from './packaged.ts';
import type { PennytraceProps } from './props.ts';
import { KeyMaker, ReportKey, type ReportOptions, ReportRole, type RoleReportOptions } from './report-key.ts';
import { SignIn } from './sign-in.ts';
import { ShardHistory, Storage } from './storage.ts';
import { Streams } from './streams.ts';

/** An id that CDK leaves out of logical ids: the service is then all that the stack is about. */
export const defaultId = 'Default';

/**
 * The name of a service, for what has a name in the console. It is the stack's name, and the
 * service's path below the stack if others may be beside it. Two services of an account and region
 * never share one.
 *
 * @param service the construct of the whole service
 * @returns letters, digits and hyphens, of which the stack's name is a token
 */
const instanceName = (service: Construct): string => {
  const { scopes } = service.node;
  const below = scopes.slice(scopes.indexOf(Stack.of(service)) + 1).map(({ node }) => node.id);
  const named = below.filter((id) => id !== defaultId).map((id) => id.replaceAll(/[^A-Za-z0-9]+/g, '-'));
  return [Aws.STACK_NAME, ...named].join('-');
};

const withTimeouts = (routes: readonly Route[], config: Config): readonly Route[] =>
  routes.map((route) =>
    route.timeoutSetting === undefined ? route : { ...route, timeoutSeconds: config[route.timeoutSetting] },
  );

/** The folder where the app of a construct has the bundles. */
const unpacked = new WeakMap<Construct, string>();

/**
 * All routes, and the bundles that the package brings. They are unpacked into the app's output folder,
 * once for all services of an app: the package's own folder may be read-only.
 *
 * @throws Error if there are none: this is a checkout of the project, whose own app makes them
 *
 * @internal
 */
export const packaged = (scope: Construct): Prebuilt => {
  const app = scope.node.root;
  let folder = unpacked.get(app);
  if (folder === undefined) {
    if (!existsSync(bundlesArchive))
      throw new Error(`${bundlesArchive} is missing: a checkout has no bundles, install what npm pack makes`);
    if (!App.isApp(app)) throw new Error(`${scope.node.path}: the service has to be in an App`);
    folder = join(app.outdir, 'bundles');
    unpackFolder(readFileSync(bundlesArchive), folder);
    unpacked.set(app, folder);
  }
  const inFolder = folder;
  return {
    routes: allRoutes,
    bundles: new Map(everyHandler.map((handler) => [handler, join(inFolder, handler)])),
  };
};

/**
 * What a service is made from besides its settings.
 *
 * @internal
 */
export interface Prebuilt {
  readonly routes: readonly Route[];
  /** The folder of each handler's bundle. */
  readonly bundles: ReadonlyMap<string, string>;
}

/** A route whose function does not delete feedback together with calls, nor may it. */
const withoutErasing = (route: Route): Route => {
  const { feedback, ...others } = route.stores;
  return isKeyed(route) && feedback === 'erase' ? { ...route, stores: others } : route;
};

/**
 * The whole service, for any account and region: tracing, feedback and inference for LLM
 * applications, paid per request. Several of them may be in one stack.
 *
 * @example
 * const tracing = new Pennytrace(stack, 'Tracing', { retentionDays: 90 });
 */
export class Pennytrace extends Construct {
  /** The base URL of the service, with a slash at its end. */
  readonly apiUrl: string;
  /** What the DNS record of the domain has to point to; undefined without the setting `domain`. */
  readonly domainTarget: string | undefined;
  /** Where calls are kept. */
  readonly callsTable: Table;
  /** Where objects and their versions are kept. */
  readonly objectsTable: Table;
  /** Where the projects' own prices of models are kept. */
  readonly costsTable: Table;
  /** Where feedback is kept. */
  readonly feedbackTable: Table;
  /** Where rollups of calls are kept. */
  readonly rollupsTable: Table;
  /** Where keys are kept, each as its digest. */
  readonly keysTable: Table;
  /** Where the audit trail is kept. */
  readonly auditTable: Table;
  /** Where big payloads are kept. */
  readonly payloadsBucket: Bucket;
  /** Where events go; undefined without the setting `events`. */
  readonly eventBus: IEventBus | undefined;
  /** Where alerts tell of their changes; undefined without the setting `alerts`. */
  readonly alertsTopic: Topic | undefined;
  /** What `npm run webhooks` is given; undefined without the setting `alerts`. */
  readonly webhooksPrefix: string | undefined;
  /** Where the files of analytics are; undefined without the setting `analytics`. */
  readonly analyticsBucket: AnalyticsBucket | undefined;
  /** The name of Glue's database over them; undefined without the setting `analytics`. */
  readonly analyticsDatabase: string | undefined;
  /** Whom people sign in with; undefined unless the setting `signIn` has `cognito`. */
  readonly userPool: UserPool | undefined;
  /** The base URL without a slash at its end. */
  readonly #url: string;
  readonly #config: Config;
  readonly #bundles: Prebuilt['bundles'];
  #keyMaker: KeyMaker | undefined;

  /**
   * @throws SettingsError which names each unknown or bad setting and says what to write
   */
  constructor(scope: Construct, id: string, props?: PennytraceProps);
  /** @internal */
  constructor(scope: Construct, id: string, props: PennytraceProps, prebuilt: Prebuilt);
  constructor(scope: Construct, id: string, props: PennytraceProps = {}, prebuilt?: Prebuilt) {
    super(scope, id);
    const config = readConfig({ ...props });
    const { routes: prebuiltRoutes, bundles } = prebuilt ?? packaged(this);
    const wanted = prebuiltRoutes.filter(({ onlyWith }) => onlyWith === undefined || config[onlyWith]);
    const timed = withTimeouts(wanted, config);
    const routes = config.keepFeedback ? timed.map(withoutErasing) : timed;
    const name = instanceName(this);

    const hasReaders = readsStreams(config);
    const hasStreams = hasReaders && config.readStreams;
    const storage = new Storage(this, 'Storage', { config, hasStreams });
    new ShardHistory(this, 'ShardHistory', { config, table: storage.calls });
    // The API is made later, since what is there without the setting iam stays in its order.
    const url = Lazy.string({ produce: () => api.urlForFunctions });
    const signIn =
      config.signIn && new SignIn(this, 'SignIn', { config, settings: config.signIn, name, url });
    const auth = new Auth(this, 'Auth', { config, routes, bundles, url, signIn, audit: storage.audit });
    const inference = new Inference(this, 'Inference', config);
    const streams = hasReaders ? new Streams(this, 'Streams', config) : undefined;
    const api = new Api(this, 'Api', { config, routes, name });
    const functions = new Functions(this, 'Functions', config);
    const service = {
      config,
      name,
      bundles,
      storage,
      keys: auth.keys,
      inference,
      streams,
      logGroup: functions.logGroup,
      stage: api.rest.deploymentStage,
      url: api.urlForFunctions,
      signIn,
    };
    const features = makeFeatures(this, service);
    functions.add({ routes, service: { ...service, redaction: features.redact }, features });
    api.add({ routes, auth, functions, cors: features.corsOrigins });
    new Observability(this, 'Observability', {
      config,
      name,
      routes,
      storage,
      auth,
      functions,
      api,
      streams,
      features: listWatched(features),
    });

    this.#url = api.urlForFunctions;
    this.#config = config;
    this.#bundles = bundles;
    for (const [key, value] of Object.entries(config.tags ?? {})) Tags.of(this).add(key, value);

    this.apiUrl = api.url;
    this.domainTarget = api.domainTarget;
    this.callsTable = storage.calls;
    this.objectsTable = storage.objects;
    this.costsTable = storage.costs;
    this.feedbackTable = storage.feedback;
    this.rollupsTable = storage.bookkeeping;
    this.keysTable = auth.keys;
    this.auditTable = storage.audit;
    this.payloadsBucket = storage.payloads;
    this.eventBus = features.events?.bus;
    this.alertsTopic = features.alerts?.topic;
    this.webhooksPrefix = features.alerts?.webhooksPrefix;
    this.analyticsBucket = features.analytics?.bucket;
    this.analyticsDatabase = features.analytics?.database;
    this.userPool = signIn?.userPool;
  }

  /**
   * Lets a function report to a project with any OpenTelemetry exporter. Makes a key for it at
   * deployment, keeps it in Secrets Manager, and sets `OTEL_EXPORTER_OTLP_ENDPOINT`, `…_PROTOCOL`
   * and `…_HEADERS`. The key is revoked when the function goes.
   *
   * @param reporter a function of this region, in this stack or another of the account
   * @returns the secret, whose JSON has `key` and `headers`, for others that report alike
   * @throws Error if an option makes no sense, or the function has a key already
   */
  grantReport(reporter: LambdaFunction, options: ReportOptions): Secret;
  /**
   * Lets a role report to a project without a key: it signs its requests, as docs/keys.md shows. A function
   * gets `PENNYTRACE_URL` and `PENNYTRACE_PROJECT` in its environment. The grant goes with the reporter.
   *
   * @param reporter a function, or the role of a task, an instance or whatever else runs in AWS
   * @throws Error without the setting `iam`, if an option makes no sense, or if the reporter has a grant already
   */
  grantReport(reporter: LambdaFunction | IRole, options: RoleReportOptions): undefined;
  grantReport(
    reporter: LambdaFunction | IRole,
    options: ReportOptions | RoleReportOptions,
  ): Secret | undefined {
    this.#keyMaker ??= new KeyMaker(this, 'KeyMaker', {
      config: this.#config,
      bundles: this.#bundles,
      keys: this.keysTable,
    });
    const { handler: maker } = this.#keyMaker.function;
    if (options.auth === 'role') {
      const { iam } = this.#config;
      new ReportRole(reporter, 'PennytraceRole', { project: options.project, url: this.#url, iam, maker });
      return undefined;
    }
    return new ReportKey(reporter, 'PennytraceKey', { ...options, apiUrl: this.apiUrl, maker }).secret;
  }
}
