/*
 * Goes before each npm script that runs TypeScript. Node 24 comes with `npm ci`; without it, Node would end in
 * ERR_UNKNOWN_FILE_EXTENSION or in the name of some missing package. This file is JavaScript, for older Nodes.
 */
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const problem = () => {
  const [major = 0] = process.versions.node.split('.').map(Number);
  if (!existsSync(new URL('../node_modules/node/package.json', import.meta.url)))
    return 'the packages for development are missing, which this command needs: run npm ci, without --omit=dev';
  if (major < 24)
    return `this is Node ${process.versions.node}, and node_modules has no Node 24: run npm ci, without --ignore-scripts`;
  return undefined;
};

const found = problem();
if (found !== undefined) {
  console.error(found);
  process.exit(1);
}
// What is compiled once is there the next time. The compiler that strips types takes 25 MB, and is then not loaded.
module.enableCompileCache?.(
  fileURLToPath(new URL('../node_modules/.cache/pennytrace/compiled', import.meta.url)),
);
