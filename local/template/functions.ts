import { z } from 'zod';
import type { TemplateReader } from './reader.ts';

/** A Lambda function as the template declares it. */
export interface FunctionSpec {
  readonly name: string;
  readonly arn: string;
  /** The folder of its bundle, absolute. */
  readonly folder: string;
  /** `<module>.<export>`, e.g. `index.handler`. */
  readonly handler: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

/** The defaults are Lambda's. */
const properties = z.object({
  Code: z.object({ S3Key: z.string() }),
  Handler: z.string(),
  Environment: z.object({ Variables: z.record(z.string(), z.string()) }).default({ Variables: {} }),
  Timeout: z.number().default(3),
  MemorySize: z.number().default(128),
});

/**
 * The functions of a stack by ARN.
 *
 * @throws Error if a function's bundle is not among the assets
 */
export const readFunctions = (
  reader: TemplateReader,
  assets: ReadonlyMap<string, string>,
): ReadonlyMap<string, FunctionSpec> => {
  const functions = reader
    .resources('AWS::Lambda::Function', properties)
    .map(({ id, properties: lambda }) => {
      const folder = assets.get(lambda.Code.S3Key);
      if (folder === undefined)
        throw new Error(`function ${id}: its code ${lambda.Code.S3Key} is not an asset`);
      return {
        name: reader.ref(id),
        arn: reader.attribute(id, 'Arn'),
        folder,
        handler: lambda.Handler,
        environment: lambda.Environment.Variables,
        timeoutSeconds: lambda.Timeout,
        memoryMb: lambda.MemorySize,
      };
    });
  return new Map(functions.map((spec) => [spec.arn, spec]));
};
