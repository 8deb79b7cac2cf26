import {
  type Assembly,
  type Resource,
  resolveAttribute,
  resolveRef,
  resolver,
  type Template,
} from 'cdk-local-runner/template';
import { deploymentOrder, type Resources } from './order.ts';

/** A resource that is about to be made, with its properties resolved. */
export interface Request {
  readonly id: string;
  readonly resource: Resource;
  /** The template as far as it is deployed, this resource included: nothing is left to resolve. */
  readonly template: Template;
  /** What `Ref` gives unless the provider says otherwise. */
  readonly ref: string;
}

/** What a provider made, where it differs from the names that everything local has. */
export interface Made {
  readonly ref?: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

/** Makes the resources of a type. */
export type Provider = (request: Request) => Promise<Made | undefined>;

/** How to deploy. */
export interface RehearsalOptions {
  /** The providers by type. Other types are only resolved. */
  readonly providers: Readonly<Record<string, Provider>>;
  /** Gives the value of a dynamic reference to a secret. */
  readonly secretValue: (arn: string, field: string, version: string) => string;
  /** The prefix of physical names. */
  readonly stackName: string;
}

const reference = /\{\{resolve:secretsmanager:(.+?):SecretString:(\w*):\w*:([\w-]*)\}\}/g;

/**
 * Deploys a stack as CloudFormation does: resource by resource, each when all that it refers to is
 * there. What a resource refers to has the name and the attributes that its provider gave it.
 *
 * @returns the stack with nothing left to resolve
 * @throws Error if a resource refers to one that is not there yet, or what a provider throws
 */
export const deploy = async (
  { template, assets, ...assembly }: Assembly,
  { providers, secretValue, stackName }: RehearsalOptions,
): Promise<Assembly> => {
  const made = new Map<string, Made>();
  const resolved: Record<string, Resource> = {};
  const lookup = (id: string, attribute?: string): string | undefined => {
    const found = made.get(id);
    const resource = template.Resources[id];
    if (!found || !resource) throw new Error(`${id} is asked for before it is there`);
    if (attribute === undefined) return found.ref;
    return (
      found.attributes?.[attribute] ??
      resolveAttribute(stackName, id, resource, attribute) ??
      `${found.ref ?? resolveRef(stackName, id, resource)}.${attribute}`
    );
  };
  const intrinsics = resolver(template, stackName, lookup);
  const dynamic = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (_key, text: unknown) =>
      typeof text === 'string'
        ? text.replace(reference, (_all, arn: string, field: string, version: string) =>
            secretValue(arn, field, version),
          )
        : text,
    );
  for (const id of deploymentOrder(template.Resources as Resources)) {
    const { Type, Properties = {} } = template.Resources[id] ?? { Type: '' };
    const resource = { Type, Properties: dynamic(intrinsics(Properties)) as Record<string, unknown> };
    resolved[id] = resource;
    const ref = resolveRef(stackName, id, resource);
    const request = { id, resource, ref, template: { ...template, Outputs: {}, Resources: resolved } };
    made.set(id, { ref, ...(await providers[Type]?.(request)) });
  }
  const Outputs = Object.fromEntries(
    Object.entries(template.Outputs).map(([name, { Value }]) => [name, { Value: intrinsics(Value) }]),
  );
  return { ...assembly, assets, template: { ...template, Resources: resolved, Outputs } };
};
