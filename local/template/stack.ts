import { z } from 'zod';
import { type NamedTable, tables } from '../../core/foundations/storage/tables.ts';
import { readAuthorizers } from './authorizers.ts';
import { type FunctionSpec, readFunctions } from './functions.ts';
import { type GatewayResponseSpec, readGatewayResponses } from './gateway-responses.ts';
import { localAccount } from './names.ts';
import type { Policy } from './policy.ts';
import { type TemplateReader, templateReader } from './reader.ts';
import { readPolicies } from './roles.ts';
import { type RouteSpec, readRoutes } from './routes.ts';
import { readBuckets, readTables, type TableSpec } from './stores.ts';
import { readSubscriptions, type SubscriptionSpec } from './subscriptions.ts';
import { type Assembly, readAssembly } from './template.ts';

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
  readonly throttle?: Throttle;
  /**
   * The media types of bodies that functions get as base64: `application/x-protobuf`, `image/*`.
   */
  readonly binaryMediaTypes: readonly string[];
}

/** What the local service runs of a stack. */
export interface StackSpec {
  readonly api: ApiSpec;
  readonly functions: readonly FunctionSpec[];
  readonly tables: readonly TableSpec[];
  /** What brings records of tables' streams to functions. */
  readonly subscriptions: readonly SubscriptionSpec[];
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

/** Reads the limits of all methods together. Limits of single methods are not supported. */
const readThrottle = ({ MethodSettings }: z.output<typeof stageProperties>): Throttle | undefined => {
  const limits = MethodSettings.filter((settings) => settings.ThrottlingRateLimit !== undefined);
  if (limits.some(({ HttpMethod, ResourcePath }) => HttpMethod !== '*' || ResourcePath !== '/*'))
    throw new Error('throttling of single methods is not supported locally');
  const [limit] = limits;
  if (limit?.ThrottlingRateLimit === undefined) return undefined;
  const { ThrottlingRateLimit: ratePerSecond, ThrottlingBurstLimit: burst = ratePerSecond } = limit;
  return { ratePerSecond, burst };
};

const readApi = (reader: TemplateReader, functions: ReadonlyMap<string, FunctionSpec>): ApiSpec => {
  const api = only('REST API', reader.resources('AWS::ApiGateway::RestApi', apiProperties));
  const { properties: stage } = only('stage', reader.resources('AWS::ApiGateway::Stage', stageProperties));
  const throttle = readThrottle(stage);
  return {
    id: reader.ref(api.id),
    account: localAccount,
    stage: stage.StageName,
    routes: readRoutes(reader, functions, readAuthorizers(reader, functions)),
    responses: readGatewayResponses(reader),
    binaryMediaTypes: api.properties.BinaryMediaTypes,
    ...(throttle && { throttle }),
  };
};

/**
 * Reads what the local service runs of a stack.
 *
 * @param stackName the prefix of physical names. @default - the stack's own name
 * @throws Error that names what is not supported locally
 */
export const stackOf = (assembly: Assembly, stackName = assembly.stackName): StackSpec => {
  const reader = templateReader(assembly, stackName);
  const functions = readFunctions(reader, assembly.assets);
  return {
    api: readApi(reader, functions),
    functions: [...functions.values()],
    tables: readTables(reader),
    subscriptions: readSubscriptions(reader, functions),
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
export const outputOf = ({ outputs }: Pick<StackSpec, 'outputs'>, name: string): string => {
  const value = outputs[name];
  if (value === undefined) throw new Error(`the stack has no output ${name}`);
  return value;
};

/**
 * The name of one of the stack's tables, as an output has it.
 *
 * @throws Error if the stack has no such output
 */
export const tableNameOf = (stack: Pick<StackSpec, 'outputs'>, table: NamedTable): string =>
  outputOf(stack, tables[table].output);

/**
 * The service's name, as its functions have it in their environment.
 *
 * @throws Error if no function has it
 */
export const serviceOf = ({ functions }: Pick<StackSpec, 'functions'>): string => {
  const name = functions.find(({ environment }) => environment.SERVICE_NAME)?.environment.SERVICE_NAME;
  if (name === undefined) throw new Error('no function has SERVICE_NAME in its environment');
  return name;
};

/** The longest time that the gateway caches an authorizer's answer, in seconds. */
export const authorizerCacheSecondsOf = ({ api }: Pick<StackSpec, 'api'>): number =>
  Math.max(0, ...api.routes.map(({ authorizer }) => authorizer?.cacheSeconds ?? 0));

/** {@link stackOf} a stack that was synthesized to a folder. */
export const readStack = (folder: string, stackName?: string): StackSpec =>
  stackOf(readAssembly(folder), stackName);
