import { z } from 'zod';
import { type Resolve, resolver } from './intrinsics.ts';
import type { Assembly, Resource } from './template.ts';

/** One resource whose properties have been resolved and checked. */
export interface Found<Properties> {
  /** Its logical id. */
  readonly id: string;
  readonly properties: Properties;
}

/** Reads resources and outputs of a synthesized stack as plain, checked values. */
export interface TemplateReader {
  /**
   * All resources of a type. Only the properties that the schema names are looked at.
   *
   * @throws Error that names the resource, where a property is missing, of a kind that is not
   * supported locally, or made with an intrinsic function that is not
   */
  resources<Shape extends z.ZodRawShape>(
    type: string,
    schema: z.ZodObject<Shape>,
  ): Found<z.output<z.ZodObject<Shape>>>[];
  /** What `Ref` gives for a resource. */
  ref(id: string): string;
  /** What an attribute of a resource is. */
  attribute(id: string, name: string): string;
  /** The stack's outputs that can be resolved. */
  outputs(): Record<string, string>;
}

const faultOf = (error: unknown): string => {
  if (error instanceof z.ZodError) return z.prettifyError(error);
  return error instanceof Error ? error.message : String(error);
};

const read = <Shape extends z.ZodRawShape>(
  id: string,
  { Properties }: Resource,
  schema: z.ZodObject<Shape>,
  resolve: Resolve,
): Found<z.output<z.ZodObject<Shape>>> => {
  const wanted = Object.keys(schema.shape).filter((name) => name in Properties);
  try {
    const resolved = resolve(Object.fromEntries(wanted.map((name) => [name, Properties[name]])));
    return { id, properties: schema.parse(resolved) };
  } catch (error) {
    throw new Error(`template resource ${id}: ${faultOf(error)}`, { cause: error });
  }
};

/**
 * Reads a synthesized stack.
 *
 * @param stackName the name that physical names start with
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
