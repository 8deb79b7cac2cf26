/**
 * `npm pack` and `npm publish` run this. It builds `dist`: a module and its declaration for each entry of the package.
 * The service's reader of templates is bundled, so that both read prompts alike.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

const folder = import.meta.dirname;
const outdir = join(folder, 'dist');
rmSync(outdir, { recursive: true, force: true });
await build({
  absWorkingDir: folder,
  entryPoints: ['src/index.ts', 'src/opentelemetry.ts'],
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  logLevel: 'warning',
});

const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
const declarations = mkdtempSync(join(tmpdir(), 'pennytrace-client-'));
try {
  execFileSync(process.execPath, [compiler, '-p', folder, '--outDir', declarations], { stdio: 'inherit' });
  // What the service has stays behind: no declaration of the package speaks of it.
  const own = join(declarations, 'clients/js/src');
  for (const name of readdirSync(own)) copyFileSync(join(own, name), join(outdir, name));
} finally {
  rmSync(declarations, { recursive: true, force: true });
}
