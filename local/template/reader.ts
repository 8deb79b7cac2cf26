import { z } from 'zod';
import { type Resolve, resolver } from './intrinsics.ts';
import type { Assembly, Resource } from './template.ts';

/** A resource with resolved and validated properties. */
export interface ResolvedResource<Properties> {
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
  /** The stack's outputs. */
  outputs(): Record<string, string>;
}

const messageOf = (error: unknown): string => {
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
    throw new Error(`template resource ${id}: ${messageOf(error)}`, { cause: error });
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
