import { z } from 'zod';
import {
  type Assembly,
  isRoot,
  localAccount,
  readAssembly,
  type TemplateReader,
  templateReader,
} from './cloudformation.ts';

/** The defaults are Lambda's. */
const functionProperties = z.object({
  Code: z.object({ S3Key: z.string() }),
  Handler: z.string(),
  Environment: z.object({ Variables: z.record(z.string(), z.string()) }).default({ Variables: {} }),
  Timeout: z.number().default(3),
  MemorySize: z.number().default(128),
});

/**
 * The functions of a stack.
 *
 * @throws Error if a function's bundle is not among the assets
 */
const listFunctions = (reader: TemplateReader, assets: ReadonlyMap<string, string>) =>
  reader.resources('AWS::Lambda::Function', functionProperties).map(({ id, properties: lambda }) => {
    const folder = assets.get(lambda.Code.S3Key);
    if (folder === undefined)
      throw new Error(`function ${id}: its code ${lambda.Code.S3Key} is not an asset`);
    return {
      name: reader.ref(id),
      arn: reader.attribute(id, 'Arn'),
      /** The folder of its bundle, absolute. */
      folder,
      /** `<module>.<export>`, e.g. `index.handler`. */
      handler: lambda.Handler,
      environment: lambda.Environment.Variables,
      timeoutSeconds: lambda.Timeout,
      memoryMb: lambda.MemorySize,
    };
  });

/** A Lambda function as the template declares it. */
export type FunctionSpec = Readonly<ReturnType<typeof listFunctions>[number]>;

/** The functions of a stack by ARN. Throws as {@link listFunctions} does. */
export const readFunctions = (
  reader: TemplateReader,
  assets: ReadonlyMap<string, string>,
): ReadonlyMap<string, FunctionSpec> =>
  new Map(listFunctions(reader, assets).map((spec) => [spec.arn, spec]));

const keys = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }));

const tableProperties = z.object({
  KeySchema: keys,
  AttributeDefinitions: z.array(
    z.object({ AttributeName: z.string(), AttributeType: z.enum(['B', 'N', 'S']) }),
  ),
  GlobalSecondaryIndexes: z
    .array(
      z.object({
        IndexName: z.string(),
        KeySchema: keys,
        Projection: z.object({
          ProjectionType: z.enum(['ALL', 'INCLUDE', 'KEYS_ONLY']),
          NonKeyAttributes: z.array(z.string()).optional(),
        }),
      }),
    )
    .optional(),
  StreamSpecification: z
    .object({
      StreamViewType: z.enum(['KEYS_ONLY', 'NEW_IMAGE', 'OLD_IMAGE', 'NEW_AND_OLD_IMAGES']),
    })
    .optional(),
  TimeToLiveSpecification: z.object({ AttributeName: z.string(), Enabled: z.boolean() }).optional(),
});

/** The name of a table, and its schema as the template declares it. */
export interface TableSpec {
  readonly name: string;
  readonly properties: z.output<typeof tableProperties>;
}

export const readTables = (reader: TemplateReader): TableSpec[] =>
  reader
    .resources('AWS::DynamoDB::Table', tableProperties)
    .map(({ id, properties }) => ({ name: reader.ref(id), properties }));

const readBuckets = (reader: TemplateReader): string[] =>
  reader.resources('AWS::S3::Bucket', z.object({})).map(({ id }) => reader.ref(id));

/** A pattern of records, as EventBridge writes patterns. */
export type Pattern = Readonly<Record<string, unknown>>;

/** The defaults are Lambda's. Only mappings of streams that halve failed batches, and report the items that failed, are understood. */
const subscriptionProperties = z.object({
  EventSourceArn: z.string(),
  FunctionName: z.string(),
  BatchSize: z.number().optional(),
  MaximumBatchingWindowInSeconds: z.number().default(0),
  MaximumRecordAgeInSeconds: z.number().default(86_400),
  /** Of queues alone. */
  ScalingConfig: z.object({ MaximumConcurrency: z.number() }).optional(),
  /** Of streams alone. */
  BisectBatchOnFunctionError: z.literal(true).optional(),
  FunctionResponseTypes: z.tuple([z.literal('ReportBatchItemFailures')]),
  FilterCriteria: z.object({ Filters: z.array(z.object({ Pattern: z.string() })) }).default({ Filters: [] }),
});

/** How many batches of a queue Lambda begins with, if nothing bounds it. */
const firstBatches = 5;

const isQueue = ({ EventSourceArn }: z.output<typeof subscriptionProperties>): boolean =>
  EventSourceArn.startsWith('arn:aws:sqs:');

const queueProperties = z.object({
  VisibilityTimeout: z.number().default(30),
  RedrivePolicy: z.object({ maxReceiveCount: z.number() }).optional(),
});

/** A queue that wakes a function. */
const readQueues = (reader: TemplateReader, functions: ReadonlyMap<string, FunctionSpec>) => {
  const queues = new Map(
    reader
      .resources('AWS::SQS::Queue', queueProperties)
      .map(({ id, properties }) => [reader.attribute(id, 'Arn'), { url: reader.ref(id), properties }]),
  );
  return reader
    .resources('AWS::Lambda::EventSourceMapping', subscriptionProperties)
    .flatMap(({ id, properties: mapping }) => {
      if (!isQueue(mapping)) return [];
      const queue = queues.get(mapping.EventSourceArn);
      const target = [...functions.values()].find(({ name }) => name === mapping.FunctionName);
      if (!target || !queue) throw new Error(`event source mapping ${id} is not supported locally`);
      const { VisibilityTimeout, RedrivePolicy } = queue.properties;
      return {
        arn: mapping.EventSourceArn,
        url: queue.url,
        function: target,
        batchSize: mapping.BatchSize ?? 10,
        /** How many batches are worked on at once. */
        concurrency: mapping.ScalingConfig?.MaximumConcurrency ?? firstBatches,
        /** How long a message that was brought stays with who got it, in ms. */
        visibilityMs: VisibilityTimeout * 1000,
        /** How often a message is brought. */
        maxReceives: RedrivePolicy?.maxReceiveCount ?? Number.POSITIVE_INFINITY,
      };
    });
};

/** A queue, and how Lambda brings its messages to a function. */
export type QueueSpec = Readonly<ReturnType<typeof readQueues>[number]>;

/**
 * The event source mappings of the streams of a stack.
 *
 * @throws Error if one has a form that is not supported locally
 */
const readSubscriptions = (reader: TemplateReader, functions: ReadonlyMap<string, FunctionSpec>) =>
  reader
    .resources('AWS::Lambda::EventSourceMapping', subscriptionProperties)
    .flatMap(({ id, properties: mapping }) => {
      if (isQueue(mapping)) return [];
      const target = [...functions.values()].find(({ name }) => name === mapping.FunctionName);
      const [, table] = /:table\/([^/]+)\/stream\//.exec(mapping.EventSourceArn) ?? [];
      if (!target || table === undefined || !mapping.BisectBatchOnFunctionError)
        throw new Error(`event source mapping ${id} is not supported locally`);
      return {
        table,
        function: target,
        /** Of which one has to fit a record; empty for all records. */
        filters: mapping.FilterCriteria.Filters.map(({ Pattern: text }) => JSON.parse(text) as Pattern),
        batchSize: mapping.BatchSize ?? 100,
        /** How long a batch gathers, in ms. */
        windowMs: mapping.MaximumBatchingWindowInSeconds * 1000,
        /** After how long a record is given up, in ms. */
        maxAgeMs: mapping.MaximumRecordAgeInSeconds * 1000,
      };
    });

/** An event source mapping: which records of a table's stream Lambda brings to a function, and how. */
export type SubscriptionSpec = Readonly<ReturnType<typeof readSubscriptions>[number]>;

const ruleProperties = z.object({
  ScheduleExpression: z.string().optional(),
  Targets: z.array(z.object({ Arn: z.string() })),
});

const rate = /^rate\((\d+) minutes?\)$/;

/**
 * The rules of a stack that wake functions by a schedule.
 *
 * @throws Error if one has a form that is not supported locally
 */
const readSchedules = (reader: TemplateReader, functions: ReadonlyMap<string, FunctionSpec>) =>
  reader.resources('AWS::Events::Rule', ruleProperties).flatMap(({ id, properties }) => {
    const [, minutes] = rate.exec(properties.ScheduleExpression ?? '') ?? [];
    return properties.Targets.map(({ Arn }) => {
      const target = [...functions.values()].find(({ arn }) => arn === Arn);
      if (!target || minutes === undefined) throw new Error(`rule ${id} is not supported locally`);
      return { function: target, everyMs: Number(minutes) * 60_000 };
    });
  });

/** A function that is woken by a schedule. */
export type ScheduleSpec = Readonly<ReturnType<typeof readSchedules>[number]>;

const authorizerProperties = z.object({
  Type: z.literal('REQUEST'),
  AuthorizerUri: z.string(),
  IdentitySource: z.string().default(''),
  AuthorizerResultTtlInSeconds: z.number().default(300),
});

const headerSource = /^method\.request\.header\.([\w-]+)$/;

const identityHeaders = (id: string, source: string): string[] =>
  source
    .split(',')
    .filter(Boolean)
    .map((entry) => {
      const [, header] = headerSource.exec(entry.trim()) ?? [];
      if (header === undefined)
        throw new Error(`authorizer ${id}: the identity source ${entry} is not supported`);
      return header.toLowerCase();
    });

const invocation = /\/functions\/(arn:[^/]+)\/(?:response-streaming-)?invocations$/;

/**
 * Finds the function that an API Gateway URI invokes.
 *
 * @throws Error if the URI invokes no function of the stack
 */
const functionOfUri = (uri: string, functions: ReadonlyMap<string, FunctionSpec>): FunctionSpec => {
  const [, arn = ''] = invocation.exec(uri) ?? [];
  const found = functions.get(arn);
  if (!found) throw new Error(`${uri} invokes no function of the stack`);
  return found;
};

const readAuthorizers = (reader: TemplateReader, functions: ReadonlyMap<string, FunctionSpec>) =>
  reader
    .resources('AWS::ApiGateway::Authorizer', authorizerProperties)
    .map((resource) => {
      const { IdentitySource, AuthorizerResultTtlInSeconds } = resource.properties;
      // API Gateway refuses it, too: all callers would share an answer.
      if (IdentitySource === '' && AuthorizerResultTtlInSeconds > 0)
        throw new Error(`authorizer ${resource.id} caches its answers without an identity source`);
      return resource;
    })
    .map(({ id, properties: authorizer }) => ({
      id: reader.ref(id),
      function: functionOfUri(authorizer.AuthorizerUri, functions),
      /** Required headers in lower case. Their values are the cache key of an answer. */
      identityHeaders: identityHeaders(id, authorizer.IdentitySource),
      /** How long an answer is cached for the same identity, in seconds; 0 turns the cache off. */
      cacheSeconds: authorizer.AuthorizerResultTtlInSeconds,
    }));

/** A Lambda authorizer of the REQUEST type. */
export type AuthorizerSpec = Readonly<ReturnType<typeof readAuthorizers>[number]>;

/** A method of the API with its integration. */
export interface RouteSpec {
  /** `POST`, …, or `ANY`. */
  readonly method: string;
  /**
   * The path of its resource, with parameters in braces: `/calls/stream_query`,
   * `/inference/v1/{path+}`.
   */
  readonly path: string;
  readonly function: FunctionSpec;
  readonly authorizer?: AuthorizerSpec;
  /** Whether the function's answer is forwarded as it comes. */
  readonly streaming: boolean;
  /** How long API Gateway waits for the complete answer, in ms. */
  readonly timeoutMs: number;
  /** The method's own limit. @default - that of the stage */
  readonly throttle?: Throttle;
}

const resourceProperties = z.object({ ParentId: z.string(), PathPart: z.string() });

const methodProperties = z.object({
  HttpMethod: z.string(),
  ResourceId: z.string(),
  AuthorizationType: z.enum(['NONE', 'CUSTOM']),
  AuthorizerId: z.string().optional(),
  ApiKeyRequired: z.literal(false).default(false),
  Integration: z.object({
    Type: z.literal('AWS_PROXY'),
    Uri: z.string(),
    ResponseTransferMode: z.enum(['BUFFERED', 'STREAM']).default('BUFFERED'),
    TimeoutInMillis: z.number().default(29_000),
  }),
});

type MethodProperties = z.output<typeof methodProperties>;

/** Finds the path of an API Gateway resource by its id. */
const pathFinder = (reader: TemplateReader): ((id: string) => string) => {
  const resources = reader.resources('AWS::ApiGateway::Resource', resourceProperties);
  const byId = new Map(resources.map(({ id, properties }) => [reader.ref(id), properties]));
  const pathTo = (id: string): string => {
    if (isRoot(id)) return '';
    const resource = byId.get(id);
    if (!resource) throw new Error(`the API has no resource ${id}`);
    return `${pathTo(resource.ParentId)}/${resource.PathPart}`;
  };
  return (id) => pathTo(id) || '/';
};

const getAuthorizer = (
  { AuthorizationType, AuthorizerId }: MethodProperties,
  authorizers: ReadonlyMap<string, AuthorizerSpec>,
): AuthorizerSpec | undefined => {
  if (AuthorizationType === 'NONE') return undefined;
  const found = authorizers.get(AuthorizerId ?? '');
  // A route must not become open because its authorizer is missing.
  if (!found) throw new Error(`the API has no authorizer ${AuthorizerId}`);
  return found;
};

/** CDK sets both the transfer mode and the invocation's URI; either means streaming. */
const isStreamed = ({ ResponseTransferMode, Uri }: MethodProperties['Integration']): boolean =>
  ResponseTransferMode === 'STREAM' || Uri.endsWith('/response-streaming-invocations');

/** The methods of the API, each with its function and authorizer. */
const readRoutes = (
  reader: TemplateReader,
  functions: ReadonlyMap<string, FunctionSpec>,
  authorizers: ReadonlyMap<string, AuthorizerSpec>,
): RouteSpec[] => {
  const getPath = pathFinder(reader);
  return reader.resources('AWS::ApiGateway::Method', methodProperties).map(({ properties }) => {
    const { HttpMethod, ResourceId, Integration } = properties;
    const authorizer = getAuthorizer(properties, authorizers);
    return {
      method: HttpMethod,
      path: getPath(ResourceId),
      function: functionOfUri(Integration.Uri, functions),
      ...(authorizer && { authorizer }),
      streaming: isStreamed(Integration),
      timeoutMs: Integration.TimeoutInMillis,
    };
  });
};

const responseProperties = z.object({
  ResponseType: z.string(),
  StatusCode: z.coerce.number().optional(),
  ResponseParameters: z.record(z.string(), z.string()).default({}),
  ResponseTemplates: z.record(z.string(), z.string()).default({}),
});

const headerPrefix = 'gatewayresponse.header.';

const getHeaders = (parameters: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parameters)
      .filter(([name]) => name.startsWith(headerPrefix))
      .map(([name, value]) => [name.slice(headerPrefix.length), value]),
  );

const readResponses = (reader: TemplateReader) =>
  reader.resources('AWS::ApiGateway::GatewayResponse', responseProperties).map(({ properties }) => ({
    type: properties.ResponseType,
    /** Absent for the status of the response's type. */
    ...(properties.StatusCode !== undefined && { status: properties.StatusCode }),
    /** Values by header name: a text in single quotes, or an expression like `context.requestId`. */
    headers: getHeaders(properties.ResponseParameters),
    /** Bodies by media type, with `$context` variables. Empty for API Gateway's own. */
    templates: properties.ResponseTemplates,
  }));

/** A gateway response as the template sets it. */
export type GatewayResponseSpec = Readonly<Omit<ReturnType<typeof readResponses>[number], 'type'>>;

const oneOrMore = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (typeof value === 'string' ? [value] : value));

/** The values of condition keys, e.g. `dynamodb:Attributes`, that a condition compares with. */
const conditionValues = z.record(z.string(), oneOrMore).optional();

/**
 * The conditions of a statement: two operators, by the IAM User Guide, "IAM JSON policy elements: Condition
 * operators" and "Set operators for multi-valued context keys". A key without a value fulfills either.
 */
const conditions = z.strictObject({
  'ForAllValues:StringEquals': conditionValues,
  StringEqualsIfExists: conditionValues,
});

/**
 * An IAM policy as the stack and its authorizers write them. Anything else is refused, such as
 * other conditions.
 */
export const policySchema = z.object({
  Version: z.string().optional(),
  Statement: z.array(
    z.strictObject({
      Sid: z.string().optional(),
      Effect: z.enum(['Allow', 'Deny']),
      Action: oneOrMore,
      Resource: oneOrMore,
      Condition: conditions.optional(),
    }),
  ),
});

/** A parsed policy document. */
export type Policy = z.output<typeof policySchema>;

/** A pattern as an expression: `*` is any characters, `?` is one. */
const toRegExp = (pattern: string): RegExp => {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's');
};

/** Whether a text fits a pattern. One without `*` and `?` is only compared: most have none. */
export const fits = (pattern: string, text: string): boolean =>
  /[*?]/.test(pattern) ? toRegExp(pattern).test(text) : pattern === text;

/** An action, e.g. `dynamodb:Query`, on the ARN of a resource. */
export interface Access {
  readonly action: string;
  readonly resource: string;
  /** The values of condition keys. @default - none */
  readonly context?: Readonly<Record<string, readonly string[]>>;
}

/** Whether an access fulfills the conditions of a statement. */
const fulfills = (condition: z.output<typeof conditions> | undefined, { context = {} }: Access): boolean =>
  Object.values(condition ?? {}).every((keys) =>
    Object.entries(keys ?? {}).every(([key, allowed]) =>
      (context[key] ?? []).every((value) => allowed.includes(value)),
    ),
  );

/** Whether policies allow an access: some statement allows it and none denies it. */
export const allowsAccess = (policies: readonly Policy[], access: Access): boolean => {
  const { action, resource } = access;
  const effects = policies
    .flatMap(({ Statement }) => Statement)
    .filter(
      ({ Action, Resource, Condition }) =>
        fulfills(Condition, access) &&
        // The case of actions does not matter to IAM, that of resources does.
        Action.some((pattern) => fits(pattern.toLowerCase(), action.toLowerCase())) &&
        Resource.some((pattern) => fits(pattern, resource)),
    )
    .map(({ Effect }) => Effect);
  return effects.includes('Allow') && !effects.includes('Deny');
};

const roleOfFunction = z.object({ Role: z.string() });
const roleProperties = z.object({
  Policies: z.array(z.object({ PolicyDocument: policySchema })).default([]),
});

/**
 * The inline policies of each function's role, by the function's ARN. Other policies are ignored.
 *
 * @throws Error if a role or policy has a form that is not supported locally
 */
const readPolicies = (reader: TemplateReader): ReadonlyMap<string, readonly Policy[]> => {
  const roles = new Map(
    reader
      .resources('AWS::IAM::Role', roleProperties)
      .map(({ id, properties }) => [reader.attribute(id, 'Arn'), properties.Policies]),
  );
  const functions = reader.resources('AWS::Lambda::Function', roleOfFunction);
  return new Map(
    functions.map(({ id, properties: { Role } }) => [
      reader.attribute(id, 'Arn'),
      (roles.get(Role) ?? []).map(({ PolicyDocument }) => PolicyDocument),
    ]),
  );
};

/** The stage's limit: requests a second, and a burst after a rest. */
export interface Throttle {
  readonly ratePerSecond: number;
  readonly burst: number;
}

export interface ApiSpec {
  readonly id: string;
  readonly account: string;
  readonly stage: string;
  readonly routes: readonly RouteSpec[];
  /** The gateway responses by type, e.g. `UNAUTHORIZED`. */
  readonly responses: ReadonlyMap<string, GatewayResponseSpec>;
  /** The limit of all methods that have none of their own. */
  readonly throttle?: Throttle;
  /**
   * The media types of bodies that functions get as base64: `application/x-protobuf`, `image/*`.
   */
  readonly binaryMediaTypes: readonly string[];
}

/** What is run of a stack. */
export interface StackSpec {
  readonly api: ApiSpec;
  readonly functions: readonly FunctionSpec[];
  readonly tables: readonly TableSpec[];
  /** What brings records of tables' streams to functions. */
  readonly subscriptions: readonly SubscriptionSpec[];
  /** The queues that wake functions. */
  readonly queues: readonly QueueSpec[];
  /** What wakes functions by a schedule. */
  readonly schedules: readonly ScheduleSpec[];
  /** The names of the buckets. */
  readonly buckets: readonly string[];
  readonly outputs: Readonly<Record<string, string>>;
  /**
   * What the functions may do, by ARN.
   *
   * @throws Error if a role or policy has a form that is not supported locally
   */
  readonly policies: () => ReadonlyMap<string, readonly Policy[]>;
}

const stageProperties = z.object({
  StageName: z.string(),
  MethodSettings: z
    .array(
      z.object({
        HttpMethod: z.string(),
        ResourcePath: z.string(),
        ThrottlingRateLimit: z.number().optional(),
        ThrottlingBurstLimit: z.number().optional(),
      }),
    )
    .default([]),
});

const apiProperties = z.object({ BinaryMediaTypes: z.array(z.string()).default([]) });

const only = <T>(what: string, [first, ...more]: readonly T[]): T => {
  if (first === undefined || more.length > 0) throw new Error(`the stack should have one ${what}`);
  return first;
};

const methodName = (method: string, path: string): string => `${method} ${path}`;

/** The path of a resource, which a stage's settings write with `~1` for each slash: `/~1call~1start`. */
const settingsPath = (path: string): string => path.replace(/^\/(?=~1)/, '').replaceAll('~1', '/');

/** All methods of a stage, as its settings name them. */
const everyMethod = methodName('*', '/*');

/** Reads the limits of methods by {@link methodName}. */
const readThrottles = ({ MethodSettings }: z.output<typeof stageProperties>): Map<string, Throttle> =>
  new Map(
    MethodSettings.flatMap((settings): [string, Throttle][] => {
      const { HttpMethod, ResourcePath, ThrottlingRateLimit: ratePerSecond } = settings;
      if (ratePerSecond === undefined) return [];
      const { ThrottlingBurstLimit: burst = ratePerSecond } = settings;
      return [[methodName(HttpMethod, settingsPath(ResourcePath)), { ratePerSecond, burst }]];
    }),
  );

const readApi = (reader: TemplateReader, functions: ReadonlyMap<string, FunctionSpec>): ApiSpec => {
  const api = only('REST API', reader.resources('AWS::ApiGateway::RestApi', apiProperties));
  const { properties: stage } = only('stage', reader.resources('AWS::ApiGateway::Stage', stageProperties));
  const throttles = readThrottles(stage);
  const throttle = throttles.get(everyMethod);
  const routes = readRoutes(
    reader,
    functions,
    new Map(readAuthorizers(reader, functions).map((spec) => [spec.id, spec])),
  );
  return {
    id: reader.ref(api.id),
    account: localAccount,
    stage: stage.StageName,
    routes: routes.map((route) => {
      const own = throttles.get(methodName(route.method, route.path));
      return own ? { ...route, throttle: own } : route;
    }),
    responses: new Map(readResponses(reader).map((spec) => [spec.type, spec])),
    binaryMediaTypes: api.properties.BinaryMediaTypes,
    ...(throttle && { throttle }),
  };
};

/**
 * Reads what is run of a stack.
 *
 * @param stackName the prefix of physical names. @default - the stack's own name
 * @throws Error that names what is not supported locally
 */
export const toStackSpec = (assembly: Assembly, stackName = assembly.stackName): StackSpec => {
  const reader = templateReader(assembly, stackName);
  const functions = readFunctions(reader, assembly.assets);
  return {
    api: readApi(reader, functions),
    functions: [...functions.values()],
    tables: readTables(reader),
    subscriptions: readSubscriptions(reader, functions),
    queues: readQueues(reader, functions),
    schedules: readSchedules(reader, functions),
    buckets: readBuckets(reader),
    outputs: reader.outputs(),
    policies: () => readPolicies(reader),
  };
};

/**
 * The value of a stack output.
 *
 * @throws Error if the stack has no such output
 */
export const getOutput = ({ outputs }: Pick<StackSpec, 'outputs'>, name: string): string => {
  const value = outputs[name];
  if (value === undefined) throw new Error(`the stack has no output ${name}`);
  return value;
};

/** The longest time that the gateway caches an authorizer's answer, in seconds. */
export const maxAuthorizerCacheSeconds = ({ api }: Pick<StackSpec, 'api'>): number =>
  Math.max(0, ...api.routes.map(({ authorizer }) => authorizer?.cacheSeconds ?? 0));

/** {@link toStackSpec} a stack that was synthesized to a folder. */
export const readStack = (folder: string, stackName?: string): StackSpec =>
  toStackSpec(readAssembly(folder), stackName);
