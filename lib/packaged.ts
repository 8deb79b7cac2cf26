import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Stage } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { routesOf } from '../api/routes.ts';
import type { Config } from './config.ts';
import { constantsOf, documentConstant } from './constants.ts';
import { handlers } from './handlers.ts';
import type { Prebuilt } from './pennytrace.ts';

/** The folder of the bundles in the package: beside this module's own folder. */
const packagedFolder = resolve(import.meta.dirname, '../bundles');

/** The one handler whose bundle depends on the settings: it answers the OpenAPI document. */
const documentHandler = 'openapi';

/**
 * The bundle of the OpenAPI document, for a service of this name. It is written into the app's
 * output, since the package is not ours to change.
 */
const documentBundle = (
  scope: Construct,
  packaged: string,
  { serviceName, dialect }: Pick<Config, 'serviceName' | 'dialect'>,
): string => {
  const outdir = Stage.of(scope)?.outdir ?? '.';
  const folder = join(outdir, `${documentHandler}-of-${dialect}-${serviceName}`);
  const file = join(folder, 'index.cjs');
  cpSync(packaged, folder, { recursive: true });
  const { [documentConstant]: text = '' } = constantsOf(serviceName, dialect);
  const code = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    code.replace(`"${documentConstant}"`, () => JSON.stringify(text)),
  );
  return folder;
};

/**
 * All routes, and the bundles that the package brings.
 *
 * @throws Error if there are none: this is a checkout of the project, whose own app makes them
 */
export const packaged = (scope: Construct, config: Pick<Config, 'serviceName' | 'dialect'>): Prebuilt => {
  if (!existsSync(packagedFolder))
    throw new Error(`${packagedFolder} is missing: a checkout has no bundles, install what npm pack makes`);
  const folders = handlers.map((handler) => [handler, join(packagedFolder, handler)] as const);
  return {
    routes: routesOf(config.dialect),
    bundles: new Map(
      folders.map(([handler, folder]) => [
        handler,
        handler === documentHandler ? documentBundle(scope, folder, config) : folder,
      ]),
    ),
  };
};
