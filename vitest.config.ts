import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { paced, patienceMs } from './test/support/run/pace.ts';
import { boundedPool } from './test/support/run/pool.ts';
import { summary } from './test/support/run/requirements.ts';
import { runs } from './test/support/run/sampling.ts';

// By `require`, so that the configuration's bundle leaves it in its place.
createRequire(import.meta.url)('./test/support/run/clock/ahead.ts');

// esbuild collects its garbage less often, and takes less time for it.
process.env.GOGC ??= '200';
// The threads of a process share what glibc gets for them. It is never given back while they live.
process.env.MALLOC_ARENA_MAX ??= '2';

/** Node loads the code as it does for `npm start`. Code that Vite has loaded runs slower. */
const native = { experimental: { viteModuleRunner: false, nodeLoader: false } };

/**
 * These tests have processes, sockets and a browser of their own. A machine that stops for seconds can
 * break one; a mistake breaks it each time. The end of a run names what was tried again.
 */
const triedAgain = { retry: 2, runner: 'test/support/run/runner.ts' };

const stores = {
  ...native,
  globalSetup: ['test/support/run/global-setup.ts'],
  teardownTimeout: 20_000,
  ...triedAgain,
};

export default defineConfig({
  plugins: [summary],
  test: {
    // They end what hangs. A test takes seconds on a quiet machine, and longer next to other work.
    testTimeout: paced(runs(180_000)),
    hookTimeout: paced(runs(180_000)),
    // How long a test waits for a condition. Hardly any test says it itself, and then by `paced`.
    expect: { poll: { timeout: patienceMs } },
    // Some files wait rather than work, so there is one worker more than cores. Each worker starts services
    // of its own: more of them take more time together.
    maxWorkers: Math.min(4, availableParallelism() + 1),
    // Files share a worker with its modules: loading them anew takes longer than most tests.
    isolate: false,
    pool: boundedPool,
    // All cores are busy with tests. Garbage is collected seldom, and by the thread that made it:
    // helpers would take its time from another test.
    execArgv: [
      '--no-memory-reducer',
      '--single-threaded-gc',
      '--initial-old-space-size=512',
      '--min-semi-space-size=4',
      // Garbage is collected after a file that has left much.
      '--expose-gc',
    ],
    // CDK checks each template by CloudFormation's rules, which takes longer than to make it.
    // The tests of test/integration/lib/stack.test.ts have it do so.
    //
    // The stores that tests start live for seconds: to compile them well would take longer.
    env: { CDK_VALIDATION: 'false', JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1' },
    setupFiles: ['test/support/run/reset.ts', 'test/support/run/properties.ts'],
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], ...native } },
      { test: { name: 'packages', include: ['packages/*/test/**/*.test.ts'], ...native, ...triedAgain } },
      { test: { name: 'integration', include: ['test/integration/**/*.test.ts'], ...stores } },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          ...stores,
          globalSetup: [...stores.globalSetup, 'test/browser/support/setup.ts'],
          runner: 'test/browser/support/runner.ts',
        },
      },
      { test: { name: 'reliability', include: ['test/reliability/**/*.test.ts'], ...stores } },
    ],
  },
});
