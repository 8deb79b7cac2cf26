/**
 * Measures what Powertools for AWS Lambda would add to a function's bundle and start. Each package
 * is added to the bundle of `lambdas/call/read.ts`, made once per container. Run `npm run
 * bench:powertools`; it installs the packages into a temporary folder, at the version below.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { tables } from '../../core/foundations/storage/tables.ts';
import { handlerOptions } from '../../lib/bundles.ts';
import { median } from '../harness/figures.ts';

const version = process.env.POWERTOOLS_VERSION ?? '2.36.0';
/** An odd number, for the median. */
const runs = Number(process.env.RUNS ?? 15);

const root = resolve(import.meta.dirname, '../..');
const temporary = mkdtempSync(join(tmpdir(), 'pennytrace-powertools-'));

const logger = ["import { Logger } from '@aws-lambda-powertools/logger';", 'new Logger()'] as const;
const metrics = [
  "import { Metrics } from '@aws-lambda-powertools/metrics';",
  'new Metrics({ namespace: "n" })',
] as const;
const tracer = ["import { Tracer } from '@aws-lambda-powertools/tracer';", 'new Tracer()'] as const;

const variants = {
  'as it is': [],
  'with logger': [logger],
  'with metrics': [metrics],
  'with tracer': [tracer],
  'with all three': [logger, metrics, tracer],
} as const;

const environment = {
  PATH: process.env.PATH,
  SERVICE_NAME: 'svc',
  SHARDS: '4',
  ...Object.fromEntries(Object.values(tables).map(({ variable }) => [variable, 't'])),
  PAYLOADS_BUCKET: 'b',
  ...{ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's' },
  ...{
    POWERTOOLS_SERVICE_NAME: 'svc',
    AWS_LAMBDA_FUNCTION_NAME: 'f',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  },
};

/** Loads a handler as Lambda's runtime does and prints the process's CPU time so far, in µs. */
const loader = `
globalThis.awslambda = { streamifyResponse: (handler) => handler };
require(process.argv[2]);
const { user, system } = process.cpuUsage();
process.stdout.write(String(user + system), () => process.exit());
`;

interface Bundle {
  readonly name: string;
  readonly file: string;
  readonly bytes: number;
  readonly metafile: Metafile;
}

const bundleOf = async (name: string, packages: readonly (readonly [string, string])[]): Promise<Bundle> => {
  const file = join(temporary, name.replaceAll(' ', '-'), 'index.cjs');
  const { metafile } = await build({
    stdin: {
      contents: [
        ...packages.map(([statement]) => statement),
        "export { handler } from '../lambdas/call/read.ts';",
        `globalThis.powertools = [${packages.map(([, bundle]) => bundle)}];`,
      ].join('\n'),
      resolveDir: root,
    },
    nodePaths: [join(temporary, 'node_modules')],
    absWorkingDir: root,
    outfile: file,
    ...handlerOptions,
  });
  return { name, file, bytes: statSync(file).size, metafile: metafile ?? { inputs: {}, outputs: {} } };
};

const startMs = ({ file }: Bundle, script: string): number =>
  Number(execFileSync(process.execPath, [script, file], { env: environment, encoding: 'utf8' })) / 1000;

/** The bytes of the service's own logs and metrics in a bundle. */
const ownBytes = ({ metafile }: Bundle): number =>
  Object.values(metafile.outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([path]) => path.startsWith('lambdas/log/'))
    .reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0);

const kb = (bytes: number): string => (bytes / 1000).toFixed(1);

try {
  const packages = ['logger', 'metrics', 'tracer'].map((name) => `@aws-lambda-powertools/${name}@${version}`);
  mkdirSync(temporary, { recursive: true });
  writeFileSync(join(temporary, 'package.json'), '{}');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', ...packages], {
    cwd: temporary,
    stdio: 'ignore',
  });
  const script = join(temporary, 'load.cjs');
  writeFileSync(script, loader);
  const bundles: Bundle[] = [];
  for (const [name, packages] of Object.entries(variants)) bundles.push(await bundleOf(name, packages));
  const times = new Map<Bundle, number[]>(bundles.map((bundle) => [bundle, []]));
  // In turns, so that other load on the machine affects all alike.
  for (let run = 0; run < runs; run++) for (const [bundle, list] of times) list.push(startMs(bundle, script));
  const [baseline] = bundles;
  if (!baseline) throw new Error('there is nothing to compare with');
  console.log(`Powertools ${version}, Node ${process.version}, the median of ${runs} starts`);
  console.log(
    '| bundle of call/read | KB minified | more | CPU ms to load | more |\n| --- | --- | --- | --- | --- |',
  );
  const baselineMs = median(times.get(baseline) ?? []);
  for (const [bundle, list] of times) {
    const ms = median(list);
    const more = [kb(bundle.bytes - baseline.bytes), (ms - baselineMs).toFixed(0)];
    console.log(`| ${bundle.name} | ${kb(bundle.bytes)} | ${more[0]} | ${ms.toFixed(0)} | ${more[1]} |`);
  }
  console.log(`Of these KB, lambdas/log has ${kb(ownBytes(baseline))}.`);
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
