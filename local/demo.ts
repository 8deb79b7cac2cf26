import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { isPackaged } from '../lib/packaged.ts';
import type { LocalService } from './service.ts';

const folder = resolve(import.meta.dirname, '../examples');

/** An example, and the environment in which it finds the service. */
interface Example {
  readonly file: string;
  readonly env: (service: Pick<LocalService, 'url' | 'key'>) => Readonly<Record<string, string>>;
}

const otelProject = 'demo/weather';

const examples: readonly Example[] = [
  { file: 'shop/main.ts', env: () => ({}) },
  { file: 'coding.ts', env: () => ({ PENNYTRACE_PROJECT: 'demo/coding' }) },
  { file: 'agent.ts', env: () => ({}) },
  {
    file: 'otel-agent.ts',
    env: ({ url, key }) => ({
      PENNYTRACE_PROJECT: otelProject,
      OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/otel`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${key},project_id=${otelProject}`,
    }),
  },
];

/** The modules of all examples, by their paths in the folder of examples. */
export const demoFiles: readonly string[] = examples.map(({ file }) => file);

/** Runs an example to its end. Returns its exit code, null if a signal ended it. */
const run = async (
  { file, env }: Example,
  service: Pick<LocalService, 'url' | 'key'>,
  signal: AbortSignal,
): Promise<number | null> => {
  const child = spawn(process.execPath, [resolve(folder, isPackaged ? file.replace(/\.ts$/, '.js') : file)], {
    env: { ...process.env, PENNYTRACE_URL: service.url, PENNYTRACE_KEY: service.key, ...env(service) },
    stdio: ['ignore', 'inherit', 'inherit'],
    signal,
  });
  // A child that is killed also emits an error.
  child.on('error', () => {});
  return await new Promise<number | null>((done) => child.once('close', done));
};

/**
 * Runs the example agents against the service, one after the other. A failure is printed; the
 * service goes on.
 *
 * @param signal ends the example
 */
export const runDemo = async (
  service: Pick<LocalService, 'url' | 'key'>,
  signal: AbortSignal,
): Promise<void> => {
  for (const example of examples) {
    if (signal.aborted) return;
    const code = await run(example, service, signal);
    // A null code means it was ended by a signal: Ctrl-C in a terminal reaches the child before us.
    if (code !== 0 && code !== null && !signal.aborted)
      console.error(`The example ${example.file} failed; the service keeps running.`);
  }
};
