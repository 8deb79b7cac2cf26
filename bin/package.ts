/** `npm pack` runs this first: it builds what the package has. See docs/construct.md. */
import { fileURLToPath } from 'node:url';
import { buildPackage } from './package/build.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
buildPackage(root, fileURLToPath(new URL('../dist', import.meta.url)));
