import { z } from 'zod';
import type { Policy } from '../iam/policy.ts';
import { readAuthorizers } from './authorizers.ts';
import { type FunctionSpec, readFunctions } from './functions.ts';
import { type GatewayResponseSpec, readGatewayResponses } from './gateway-responses.ts';
import { localAccount } from './names.ts';
import { type TemplateReader, templateReader } from './reader.ts';
import { readPolicies } from './roles.ts';
import { type RouteSpec, readRoutes } from './routes.ts';
import { readBuckets, readTables, type TableSpec } from './stores.ts';
import { type Assembly, readAssembly } from './template.ts';

/** How many requests the stage takes: so many a second, and so many at once after a rest. */
export interface Throttle {
  readonly ratePerSecond: number;
  readonly burst: number;
}

/** The REST API. */
export interface ApiSpec {
  readonly id: string;
  readonly account: string;
  readonly stage: string;
  readonly routes: readonly RouteSpec[];
  /** The answers of the gateway's own, by their type, e.g. `UNAUTHORIZED`. */
  readonly responses: ReadonlyMap<string, GatewayResponseSpec>;
  readonly throttle?: Throttle;
}

/** What the local service runs of a stack. */
export interface StackSpec {
  readonly api: ApiSpec;
  readonly functions: readonly FunctionSpec[];
  readonly tables: readonly TableSpec[];
  /** The names of the buckets. */
  readonly buckets: readonly string[];
  readonly outputs: Readonly<Record<string, string>>;
  /**
   * What the functions may do, by their ARNs. Throws an Error where the template has what is not
   * supported locally.
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

const only = <T>(what: string, [first, ...more]: readonly T[]): T => {
  if (first === undefined || more.length > 0) throw new Error(`the stack should have one ${what}`);
  return first;
};

/** The limits for all methods together; limits of single methods are not supported. */
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
  const api = only('REST API', reader.resources('AWS::ApiGateway::RestApi', z.object({})));
  const { properties: stage } = only('stage', reader.resources('AWS::ApiGateway::Stage', stageProperties));
  const throttle = readThrottle(stage);
  return {
    id: reader.ref(api.id),
    account: localAccount,
    stage: stage.StageName,
    routes: readRoutes(reader, functions, readAuthorizers(reader, functions)),
    responses: readGatewayResponses(reader),
    ...(throttle && { throttle }),
  };
};

/**
 * What the local service runs of a stack that has been read.
 *
 * @param stackName the name that physical names start with. @default - the stack's own
 * @throws Error that names what of the template is not supported locally
 */
export const stackOf = (assembly: Assembly, stackName = assembly.stackName): StackSpec => {
  const reader = templateReader(assembly, stackName);
  const functions = readFunctions(reader, assembly.assets);
  return {
    api: readApi(reader, functions),
    functions: [...functions.values()],
    tables: readTables(reader),
    buckets: readBuckets(reader),
    outputs: reader.outputs(),
    policies: () => readPolicies(reader),
  };
};

/**
 * An output of the stack.
 *
 * @throws Error where the stack has none of that name
 */
export const outputOf = ({ outputs }: Pick<StackSpec, 'outputs'>, name: string): string => {
  const value = outputs[name];
  if (value === undefined) throw new Error(`the stack has no output ${name}`);
  return value;
};

/**
 * The service's name, which its functions have in their environment.
 *
 * @throws Error where none has
 */
export const serviceOf = ({ functions }: Pick<StackSpec, 'functions'>): string => {
  const name = functions.find(({ environment }) => environment.SERVICE_NAME)?.environment.SERVICE_NAME;
  if (name === undefined) throw new Error('no function has SERVICE_NAME in its environment');
  return name;
};

/** How many seconds the gateway remembers what a key may do, at the most. */
export const authorizerCacheSecondsOf = ({ api }: Pick<StackSpec, 'api'>): number =>
  Math.max(0, ...api.routes.map(({ authorizer }) => authorizer?.cacheSeconds ?? 0));

/** {@link stackOf} the stack that was synthesized to a folder. */
export const readStack = (folder: string, stackName?: string): StackSpec =>
  stackOf(readAssembly(folder), stackName);
