import { Aws, Duration, Stack, Validations } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  AuthorizationType,
  CfnRestApi,
  DomainName,
  EndpointAccessMode,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  type Method,
  type MethodDeploymentOptions,
  MethodLoggingLevel,
  ResponseTransferMode,
  RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AnyPrincipal,
  type IRole,
  PolicyDocument,
  PolicyStatement,
  Role,
  ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import { CfnPermission, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnRecordSet } from 'aws-cdk-lib/aws-route53';
import { Construct } from 'constructs';
import { getMethods, isByLink, isForPages, linkShare, type Route, takesKey } from '../api/endpoint.ts';
import type { Auth } from './auth.ts';
import type { Config } from './config.ts';
import type { Cors } from './cors.ts';
import type { Functions } from './functions.ts';
import { addGatewayResponses } from './gateway-responses.ts';
import { makeLogGroup } from './service-function.ts';

/**
 * The format of the access log: one JSON line for each request. All values are API Gateway's, the
 * operator's or counted. Nothing that a caller wrote gets in, no header, and so no key. Latencies
 * are in milliseconds, the response's length in bytes. A value that a request lacks is `-`.
 */
const accessLogFormat = JSON.stringify({
  requestId: AccessLogField.contextRequestId(),
  time: AccessLogField.contextRequestTimeEpoch(),
  ip: AccessLogField.contextIdentitySourceIp(),
  method: AccessLogField.contextHttpMethod(),
  route: AccessLogField.contextResourcePath(),
  status: AccessLogField.contextStatus(),
  responseLength: AccessLogField.contextResponseLength(),
  latency: AccessLogField.contextResponseLatency(),
  integrationLatency: AccessLogField.contextIntegrationLatency(),
  integrationStatus: AccessLogField.contextIntegrationStatus(),
  error: AccessLogField.contextErrorResponseType(),
  integrationError: AccessLogField.contextIntegrationErrorMessage(),
  keyId: AccessLogField.contextAuthorizer('keyId'),
  user: AccessLogField.contextAuthorizer('user'),
});

/**
 * API Gateway's longest wait for a buffered answer, in seconds. A stream may take as long as its
 * function.
 */
const bufferedTimeoutSeconds = 29;

/**
 * Bodies of these types reach functions as base64. JSON stays text: as base64 it would take a third
 * more of Lambda's 6 MB.
 */
const binaryMediaTypes = ['application/x-protobuf', 'multipart/form-data'];

/** The last part of the base URL. */
const stageName = 'api';

/** The API of each stack that makes the account's role for logs. */
const roleMakers = new WeakMap<Stack, RestApi>();

interface ApiProps {
  readonly config: Config;
  readonly routes: readonly Route[];
  /** The name of the service. */
  readonly name: string;
}

interface ApiRoutesProps {
  readonly routes: readonly Route[];
  readonly auth: Auth;
  readonly functions: Functions;
  /** What answers preflight requests. @default - nothing does */
  readonly cors?: Cors | undefined;
}

/**
 * The REST API: the routes, who may call them and how often, the answers that the gateway makes
 * without a function, and the access log.
 */
export class Api extends Construct {
  readonly rest: RestApi;
  /** The base URL, with a slash at its end. */
  readonly url: string;
  /**
   * The same without the slash, for functions of settings. It names the stage by a text: the stage waits
   * for the functions of all endpoints, and one of these waits for a setting's.
   */
  readonly urlForFunctions: string;
  /** What the DNS record of the domain has to point to; undefined without the setting `domain`. */
  readonly domainTarget: string | undefined;

  constructor(scope: Construct, id: string, { config, routes, name }: ApiProps) {
    super(scope, id);
    this.rest = this.#restApi(config, routes, name);
    const { domain, private: access } = config;
    this.domainTarget = domain && this.#domain(domain);
    if (domain) {
      this.urlForFunctions = `https://${domain.name}`;
      this.url = `${this.urlForFunctions}/`;
    } else {
      // The name with an endpoint's id leads there whether or not the endpoint has private DNS.
      const [endpoint] = access?.vpcEndpointIds ?? [];
      const host = endpoint === undefined ? this.rest.restApiId : `${this.rest.restApiId}-${endpoint}`;
      this.urlForFunctions = `https://${host}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}/${stageName}`;
      this.url = access ? `${this.urlForFunctions}/` : this.rest.url;
    }
    addGatewayResponses(this.rest, config, this.urlForFunctions);
  }

  /** Leads requests to the functions of routes. */
  add({ routes, auth, functions, cors }: ApiRoutesProps): void {
    const handlers = new Set(routes.map((route) => functions.getFunction(route).handler));
    if (cors) handlers.add(cors.preflight.handler);
    const invoker = this.#invoker([...handlers]);
    for (const route of routes) this.#addRoute(route, auth, functions, invoker);
    if (cors) for (const path of pathsForPages(routes)) this.#addPreflight(path, cors, invoker);
  }

  #restApi(config: Config, routes: readonly Route[], name: string): RestApi {
    const accessLog = makeLogGroup(this, 'AccessLog', config);
    const stack = Stack.of(this);
    const roleMaker = roleMakers.get(stack);
    const rest = new RestApi(this, 'Rest', {
      restApiName: name,
      description: 'Tracing, feedback and inference for LLM applications',
      endpointTypes: [config.private ? EndpointType.PRIVATE : EndpointType.REGIONAL],
      ...(config.private && { policy: onlyFrom(config.private.vpcEndpointIds) }),
      // No stage may log without this role. The account has one for each region.
      cloudWatchRole: config.accountLogRole && roleMaker === undefined,
      binaryMediaTypes,
      deployOptions: {
        stageName,
        throttlingRateLimit: config.throttleRate,
        throttlingBurstLimit: config.throttleBurst,
        methodOptions: openMethodOptions(config, routes),
        tracingEnabled: config.xray,
        metricsEnabled: false,
        // The access log says as much of each request. Execution logs would add headers and bodies.
        loggingLevel: MethodLoggingLevel.OFF,
        dataTraceEnabled: false,
        accessLogDestination: new LogGroupLogDestination(accessLog),
        accessLogFormat: AccessLogFormat.custom(accessLogFormat),
      },
    });
    if (roleMaker) rest.deploymentStage.node.addDependency(roleMaker.node.findChild('Account'));
    else if (config.accountLogRole) roleMakers.set(stack, rest);
    // The stack names its outputs itself.
    rest.node.tryRemoveChild('Endpoint');
    requireModernTls(rest);
    if (config.private) useEndpoints(rest, config.private.vpcEndpointIds);
    acknowledge(rest, config);
    return rest;
  }

  /**
   * Leads a domain name to the API, with the API's own demands of TLS.
   *
   * @returns what the name's DNS record has to point to
   */
  #domain({ name, certificate, zone }: NonNullable<Config['domain']>): string {
    const domain = new DomainName(this, 'Domain', {
      domainName: name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificate),
      endpointType: EndpointType.REGIONAL,
      ...modernTls,
    });
    domain.addBasePathMapping(this.rest);
    const { domainNameAliasDomainName: target, domainNameAliasHostedZoneId: hostedZoneId } = domain;
    if (zone !== undefined)
      new CfnRecordSet(this, 'Record', {
        name,
        type: 'A',
        hostedZoneId: zone,
        aliasTarget: { dnsName: target, hostedZoneId },
      });
    return target;
  }

  /** What API Gateway invokes the functions of all endpoints as. See docs/decisions/0151. */
  #invoker(handlers: readonly LambdaFunction[]): IRole {
    const invoke = new PolicyStatement({
      actions: ['lambda:InvokeFunction'],
      resources: handlers.map(({ functionArn }) => functionArn),
    });
    return new Role(this, 'Invoker', {
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      inlinePolicies: { invoke: new PolicyDocument({ statements: [invoke] }) },
    });
  }

  #addRoute(route: Route, auth: Auth, functions: Functions, invoker: IRole): void {
    const integration = new LambdaIntegration(functions.getFunction(route).handler, {
      allowTestInvoke: false,
      credentialsRole: invoker,
      ...(route.streaming && {
        responseTransferMode: ResponseTransferMode.STREAM,
        timeout: Duration.seconds(Math.max(route.timeoutSeconds, bufferedTimeoutSeconds)),
      }),
    });
    const resource = this.rest.root.resourceForPath(route.path);
    for (const verb of getMethods(route)) {
      const method = resource.addMethod(
        verb,
        integration,
        takesKey(route)
          ? { authorizer: auth.authorizer(route.scheme) }
          : { authorizationType: AuthorizationType.NONE },
      );
      dropPermissions(method);
      if (takesKey(route)) acknowledgeKeyed(method);
      else acknowledgeOpen(method);
    }
  }

  #addPreflight(path: string, { preflight }: Cors, invoker: IRole): void {
    const integration = new LambdaIntegration(preflight.handler, {
      allowTestInvoke: false,
      credentialsRole: invoker,
    });
    const method = this.rest.root.resourceForPath(path).addMethod('OPTIONS', integration, {
      authorizationType: AuthorizationType.NONE,
    });
    dropPermissions(method);
    acknowledgeOpen(method);
  }
}

/** The paths that browsers send preflight requests to. */
const pathsForPages = (routes: readonly Route[]): readonly string[] => [
  ...new Set(routes.filter(isForPages).map(({ path }) => path)),
];

/** CDK gives each method a permission as well. A stack has no room for these, and the role is enough. */
const dropPermissions = (method: Method): void => {
  for (const { node } of method.node.children.filter(CfnPermission.isCfnPermission))
    method.node.tryRemoveChild(node.id);
};

/** Anybody can call a method without a key, so each has a throttle of its own, and not that of callers. */
const openMethodOptions = (
  { openThrottleRate, openThrottleBurst, corsOrigins }: Config,
  routes: readonly Route[],
): Record<string, MethodDeploymentOptions> => {
  const open = routes.filter((route) => !takesKey(route));
  const byLink = open.filter(isByLink);
  const toMethods = (of: readonly Route[]) =>
    of.flatMap((route) => getMethods(route).map((verb) => `${route.path}/${verb}`));
  const methods = toMethods(open.filter((route) => !isByLink(route)));
  const preflights = corsOrigins ? pathsForPages(routes).map((path) => `${path}/OPTIONS`) : [];
  const options = {
    throttlingRateLimit: openThrottleRate,
    throttlingBurstLimit: openThrottleBurst,
    metricsEnabled: false,
    loggingLevel: MethodLoggingLevel.OFF,
  };
  const slower = {
    ...options,
    throttlingRateLimit: linkShare(openThrottleRate),
    throttlingBurstLimit: linkShare(openThrottleBurst),
  };
  return Object.fromEntries([
    ...[...methods, ...preflights].map((method) => [method, options]),
    ...toMethods(byLink).map((method) => [method, slower]),
  ]);
};

/** TLS 1.2 with forward secrecy or better, and the name of the API alone. */
const modernTls = {
  securityPolicy: SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
  endpointAccessMode: EndpointAccessMode.STRICT,
} as const;

const findResource = ({ node: { defaultChild } }: RestApi): CfnRestApi => {
  if (!(defaultChild instanceof CfnRestApi)) throw new Error('the REST API has no resource');
  return defaultChild;
};

/** Requires {@link modernTls}. `RestApi` has no property for it yet. */
const requireModernTls = (rest: RestApi): void => {
  Object.assign(findResource(rest), modernTls);
};

/** Gives a private API its endpoints, by their ids. `RestApi` takes constructs, which need their VPC. */
const useEndpoints = (rest: RestApi, vpcEndpointIds: readonly string[]): void => {
  findResource(rest).endpointConfiguration = {
    types: [EndpointType.PRIVATE],
    vpcEndpointIds: [...vpcEndpointIds],
  };
};

/** Lets requests in that come through these endpoints. Without a policy, a private API lets none in. */
const onlyFrom = (vpcEndpointIds: readonly string[]): PolicyDocument =>
  new PolicyDocument({
    statements: [
      new PolicyStatement({
        principals: [new AnyPrincipal()],
        actions: ['execute-api:Invoke'],
        resources: ['execute-api:/*'],
        conditions: { StringEquals: { 'aws:SourceVpce': [...vpcEndpointIds] } },
      }),
    ],
  });

const acknowledge = (rest: RestApi, { xray }: Config): void => {
  if (!xray)
    Validations.of(rest).acknowledge({
      id: 'Serverless-APIGWXrayEnabled',
      reason: 'The setting xray switches it on. It is paid for, and off by default.',
    });
  Validations.of(rest).acknowledge(
    {
      id: 'AwsSolutions-APIG2',
      reason:
        'The handlers check every body against its schema and name each problem. The gateway names none.',
    },
    {
      id: 'AwsSolutions-APIG3',
      reason:
        'A web ACL costs $5 a month and more while nothing happens. docs/configuration.md says how to add one.',
    },
    {
      id: 'AwsSolutions-APIG6',
      reason:
        'The access log has every request with its error. Execution logs would have headers and bodies.',
    },
    {
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
      reason: 'API Gateway asks for this policy. All APIs of the account and region share the role.',
    },
  );
};

const acknowledgeKeyed = (method: Method): void => {
  Validations.of(method).acknowledge({
    id: 'AwsSolutions-COG4',
    reason: 'Keys of the service authenticate, through a Lambda authorizer. There is no user pool.',
  });
};

const acknowledgeOpen = (method: Method): void => {
  const reason =
    'It is for everybody. It answers one fixed text, which says nothing of what is stored, and may do nothing.';
  Validations.of(method).acknowledge(
    { id: 'AwsSolutions-APIG4', reason },
    { id: 'AwsSolutions-COG4', reason },
  );
};
