/**
 * `npm pack` runs this before it packs, and with `--restore` afterwards. It builds what the package
 * has into the folder that is packed, and lends it the package's manifest. See docs/construct.md.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPackage } from './package/build.ts';
import { placeManifest, restoreManifest } from './package/manifest.ts';

const folder = process.cwd();
restoreManifest(folder);
if (!process.argv.includes('--restore')) {
  buildPackage(fileURLToPath(new URL('..', import.meta.url)), join(folder, 'dist'));
  placeManifest(folder);
}
