import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';

const resource = z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) });

const template = z.object({
  Resources: z.record(z.string(), resource),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown() })).default({}),
  Parameters: z.record(z.string(), z.object({ Default: z.unknown().optional() })).default({}),
  Conditions: z.record(z.string(), z.unknown()).default({}),
});

/** The fields of a CloudFormation template that the local service reads. */
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
