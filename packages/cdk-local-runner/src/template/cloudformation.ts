import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';

const resource = z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) });

const template = z.object({
  Resources: z.record(z.string(), resource),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown() })).default({}),
  Parameters: z.record(z.string(), z.object({ Default: z.unknown().optional() })).default({}),
});

/** The fields of a CloudFormation template that are read. */
export type Template = z.output<typeof template>;

/** A resource of a template: its type, and its properties with intrinsic functions. */
export type Resource = z.output<typeof resource>;

const assets = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.object({ path: z.string() }),
      destinations: z.record(z.string(), z.object({ objectKey: z.string() })),
    }),
  ),
});

/** A synthesized stack: its template and its assets. */
export interface Assembly {
  readonly stackName: string;
  readonly template: Template;
  /** The folder of each asset, by the key that the template refers to. */
  readonly assets: ReadonlyMap<string, string>;
}

const templateSuffix = '.template.json';

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

/**
 * Reads the one stack of a CDK cloud assembly.
 *
 * @param folder where the CDK app wrote it
 * @throws Error if there is not exactly one stack, or its files have another form
 */
export const readAssembly = (folder: string): Assembly => {
  const [file, ...more] = readdirSync(folder).filter((name) => name.endsWith(templateSuffix));
  if (file === undefined || more.length > 0) throw new Error(`${folder} should hold one stack`);
  const stackName = file.slice(0, -templateSuffix.length);
  const { files } = assets.parse(readJson(join(folder, `${stackName}.assets.json`)));
  const folders = Object.values(files).flatMap(({ source, destinations }) =>
    Object.values(destinations).map(({ objectKey }) => [objectKey, resolve(folder, source.path)] as const),
  );
  return { stackName, template: template.parse(readJson(join(folder, file))), assets: new Map(folders) };
};

/** The region of everything local. */
export const localRegion = 'us-east-1';

/** The account of everything local. No AWS account has this number. */
export const localAccount = '000000000000';

/** What the URLs of queues begin with. */
export const queueUrls = `https://sqs.${localRegion}.amazonaws.com/${localAccount}/`;

/**
 * The longest physical name, in characters: that of buckets, which is below that of functions and
 * tables.
 */
const maxLength = 63;

const name = (stackName: string, id: string): string =>
  `${stackName}-${id}`.slice(-maxLength).replace(/^-/, '');

/**
 * The value of `Ref` for a resource: its physical name or id. It consists of the stack's name and
 * the logical id, so it is the same at every start.
 */
export const resolveRef = (stackName: string, id: string, { Type, Properties }: Resource): string => {
  switch (Type) {
    case 'AWS::ApiGateway::Stage':
      return String(Properties.StageName);
    case 'AWS::ApiGateway::RestApi':
    case 'AWS::ApiGateway::Resource':
    case 'AWS::ApiGateway::Authorizer':
      return id;
    case 'AWS::S3::Bucket':
      return name(stackName, id).toLowerCase();
    case 'AWS::SQS::Queue':
      return queueUrls + name(stackName, id);
    default:
      return name(stackName, id);
  }
};

const arn = (service: string, resource: string): string =>
  `arn:aws:${service}:${localRegion}:${localAccount}:${resource}`;

/**
 * The suffix of the id of a REST API's root resource, the parent of every path's first resource.
 */
const rootSuffix = '-root';

/** Whether an id is that of an API Gateway root resource. */
export const isRoot = (id: string): boolean => id.endsWith(rootSuffix);

/**
 * The value of `Fn::GetAtt` for a resource; undefined if the attribute is not supported locally.
 */
export const resolveAttribute = (
  stackName: string,
  id: string,
  resource: Resource,
  attribute: string,
): string | undefined => {
  const ref = resolveRef(stackName, id, resource);
  switch (`${resource.Type}.${attribute}`) {
    case 'AWS::ApiGateway::RestApi.RootResourceId':
      return `${ref}${rootSuffix}`;
    case 'AWS::Lambda::Function.Arn':
      return arn('lambda', `function:${ref}`);
    case 'AWS::DynamoDB::Table.Arn':
      return arn('dynamodb', `table/${ref}`);
    case 'AWS::DynamoDB::Table.StreamArn':
      return arn('dynamodb', `table/${ref}/stream/local`);
    case 'AWS::SQS::Queue.Arn':
      return arn('sqs', ref.slice(queueUrls.length));
    case 'AWS::IAM::Role.Arn':
      return `arn:aws:iam::${localAccount}:role/${ref}`;
    case 'AWS::Logs::LogGroup.Arn':
      return arn('logs', `log-group:${ref}:*`);
    case 'AWS::S3::Bucket.Arn':
      return `arn:aws:s3:::${ref}`;
    default:
      return undefined;
  }
};

type Resolve = (value: unknown) => unknown;

/** Whether a value is an object of JSON. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isDefined = (value: unknown): boolean => value !== undefined;

const text = (value: unknown, where: string): string => {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new Error(`${where} should get a string, not ${JSON.stringify(value)}`);
};

const list = (value: unknown, where: string): unknown[] => {
  if (Array.isArray(value)) return value;
  throw new Error(`${where} should get a list, not ${JSON.stringify(value)}`);
};

/** The name and argument of an intrinsic function; undefined if the object is not one. */
const getIntrinsic = (value: Record<string, unknown>): [string, unknown] | undefined => {
  const [entry, ...more] = Object.entries(value);
  if (!entry || more.length > 0) return undefined;
  return entry[0] === 'Ref' || entry[0].startsWith('Fn::') ? entry : undefined;
};

/** Evaluates one intrinsic function. Its argument may contain others. */
type Intrinsic = (argument: unknown, resolve: Resolve) => unknown;

const pureFunctions: Readonly<Record<string, Intrinsic>> = {
  'Fn::Join': (argument, resolve) => {
    const [separator, values] = list(resolve(argument), 'Fn::Join');
    const texts = list(values, 'Fn::Join').map((item) => text(item, 'Fn::Join'));
    return texts.join(text(separator, 'Fn::Join'));
  },
  'Fn::Select': (argument, resolve) => {
    const [index, values] = list(resolve(argument), 'Fn::Select');
    return list(values, 'Fn::Select')[Number(index)];
  },
  'Fn::Split': (argument, resolve) => {
    const [separator, subject] = list(resolve(argument), 'Fn::Split');
    return text(subject, 'Fn::Split').split(text(separator, 'Fn::Split'));
  },
};

const pseudoParameters = (stackName: string): Readonly<Record<string, string | undefined>> => ({
  'AWS::AccountId': localAccount,
  'AWS::NoValue': undefined,
  'AWS::Partition': 'aws',
  'AWS::Region': localRegion,
  'AWS::StackId': `arn:aws:cloudformation:${localRegion}:${localAccount}:stack/${stackName}/local`,
  'AWS::StackName': stackName,
  'AWS::URLSuffix': 'amazonaws.com',
});

/**
 * The name of a resource that exists, or one of its attributes. Undefined if it is not known: then it
 * is made from the declaration.
 */
export type Lookup = (id: string, attribute?: string) => string | undefined;

const referenceFunctions = (
  { Parameters, Resources }: Template,
  stackName: string,
  lookup: Lookup,
): Readonly<Record<string, Intrinsic>> => {
  const pseudo = pseudoParameters(stackName);
  const ref = (name: string): unknown => {
    if (name in pseudo) return pseudo[name];
    if (name in Parameters) return Parameters[name]?.Default;
    const resource = Resources[name];
    if (!resource) throw new Error(`Ref to ${name}, which the template does not have`);
    return lookup(name) ?? resolveRef(stackName, name, resource);
  };
  const getAtt = (id: string, attribute: string): string => {
    const resource = Resources[id];
    const value = resource && (lookup(id, attribute) ?? resolveAttribute(stackName, id, resource, attribute));
    if (value === undefined) throw new Error(`Fn::GetAtt ${id}.${attribute} is not supported locally`);
    return value;
  };
  return {
    Ref: (name) => ref(text(name, 'Ref')),
    'Fn::GetAtt': (argument) => {
      const path = typeof argument === 'string' ? argument.split('.') : list(argument, 'Fn::GetAtt');
      const [id = '', ...attribute] = path.map((item) => text(item, 'Fn::GetAtt'));
      return getAtt(id, attribute.join('.'));
    },
    /** `${Name}` and `${Name.Attribute}` in a text. */
    'Fn::Sub': (argument) =>
      text(argument, 'Fn::Sub').replace(/\$\{([^}]*)\}/g, (_whole, name: string) => {
        const [id = '', ...attribute] = name.split('.');
        return attribute.length > 0 ? getAtt(id, attribute.join('.')) : text(ref(name), `Fn::Sub ${name}`);
      }),
  };
};

/**
 * Makes the resolver of a template. It drops properties that are `AWS::NoValue`, and throws an
 * Error for functions and attributes that are not supported locally.
 *
 * @param stackName the prefix of physical names
 * @param lookup finds names and attributes of resources that exist. @default - it finds none
 */
export const resolver = (
  template: Template,
  stackName: string,
  lookup: Lookup = () => undefined,
): Resolve => {
  const functions = {
    ...pureFunctions,
    ...referenceFunctions(template, stackName, lookup),
  };
  const resolve: Resolve = (value) => {
    if (Array.isArray(value)) return value.map(resolve).filter(isDefined);
    if (!isObject(value)) return value;
    const [name, argument] = getIntrinsic(value) ?? [];
    if (name === undefined) {
      const resolved = Object.entries(value).map(([key, item]) => [key, resolve(item)]);
      return Object.fromEntries(resolved.filter(([, item]) => isDefined(item)));
    }
    const apply: Intrinsic | undefined = functions[name];
    if (!apply) throw new Error(`${name} is not supported locally`);
    return apply(argument, resolve);
  };
  return resolve;
};

/** A resource with resolved and validated properties. */
interface ResolvedResource<Properties> {
  /** Its logical id. */
  readonly id: string;
  readonly properties: Properties;
}

/** Reads resources and outputs of a synthesized stack as plain, validated values. */
export interface TemplateReader {
  /**
   * All resources of a type. Only the properties in the schema are read.
   *
   * @throws Error with the resource's id if a property is missing, or has a form or an intrinsic
   * function that is not supported locally
   */
  resources<Shape extends z.ZodRawShape>(
    type: string,
    schema: z.ZodObject<Shape>,
  ): ResolvedResource<z.output<z.ZodObject<Shape>>>[];
  /** The value of `Ref` for a resource. */
  ref(id: string): string;
  /** The value of `Fn::GetAtt` for a resource. */
  attribute(id: string, name: string): string;
  outputs(): Record<string, string>;
}

const toMessage = (error: unknown): string => {
  if (error instanceof z.ZodError) return z.prettifyError(error);
  return error instanceof Error ? error.message : String(error);
};

const read = <Shape extends z.ZodRawShape>(
  id: string,
  { Properties }: Resource,
  schema: z.ZodObject<Shape>,
  resolve: Resolve,
): ResolvedResource<z.output<z.ZodObject<Shape>>> => {
  const wanted = Object.keys(schema.shape).filter((name) => name in Properties);
  try {
    const resolved = resolve(Object.fromEntries(wanted.map((name) => [name, Properties[name]])));
    return { id, properties: schema.parse(resolved) };
  } catch (error) {
    throw new Error(`template resource ${id}: ${toMessage(error)}`, { cause: error });
  }
};

/**
 * Makes the reader of a synthesized stack.
 *
 * @param stackName the prefix of physical names
 */
export const templateReader = (
  { template }: Pick<Assembly, 'template'>,
  stackName: string,
): TemplateReader => {
  const resolve = resolver(template, stackName);
  return {
    resources: (type, schema) =>
      Object.entries(template.Resources)
        .filter(([, resource]) => resource.Type === type)
        .map(([id, resource]) => read(id, resource, schema, resolve)),
    ref: (id) => String(resolve({ Ref: id })),
    attribute: (id, name) => String(resolve({ 'Fn::GetAtt': [id, name] })),
    outputs: () =>
      Object.fromEntries(
        Object.entries(template.Outputs).map(([name, { Value }]) => [name, String(resolve(Value))]),
      ),
  };
};
