import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { defaultServiceName } from '../../core/foundations/wire/names.ts';
import { bundle } from '../../lib/bundles.ts';
import { constantsOf, documentConstant } from '../../lib/constants.ts';
import { bundleOf } from '../../lib/functions.ts';
import { handlers } from '../../lib/handlers.ts';
import { pageHandler, placePage } from '../../lib/page.ts';
import { writeDeclarations } from './declarations.ts';

/** The construct as one module, which needs nothing but CDK. */
const buildConstruct = (root: string, outdir: string): void => {
  buildSync({
    absWorkingDir: root,
    entryPoints: { 'lib/index': 'lib/index.ts' },
    outdir,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    mainFields: ['module', 'main'],
    external: ['aws-cdk-lib', 'constructs'],
    legalComments: 'linked',
    logLevel: 'warning',
  });
};

/**
 * Builds what the package has besides its documents: the construct with its declarations, and every
 * handler's bundle.
 *
 * @param root the project's root, an absolute path
 * @param outdir an absolute path; what is there is removed
 * @throws Error if something does not build; esbuild prints where and why
 */
export const buildPackage = (root: string, outdir: string): void => {
  rmSync(outdir, { recursive: true, force: true });
  buildConstruct(root, outdir);
  writeDeclarations(root, outdir);
  // The document depends on the settings: the construct puts it in the place of this text.
  const constants = { ...constantsOf(defaultServiceName), [documentConstant]: documentConstant };
  const bundles = bundle({ root, handlers, outdir: join(outdir, 'bundles'), constants });
  rmSync(join(outdir, 'bundles/meta.json'));
  placePage(root, bundleOf(bundles, pageHandler));
};
