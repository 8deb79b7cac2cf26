import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { summary } from './test/support/run/requirements.ts';
import { runs } from './test/support/run/sampling.ts';

// By `require`, so that the configuration's bundle leaves it in its place.
createRequire(import.meta.url)('./test/support/run/clock/ahead.ts');

// esbuild collects its garbage less often, and takes less time for it.
process.env.GOGC ??= '200';

/** Node loads the code as it does for `npm start`. Code that Vite has loaded runs slower. */
const native = { experimental: { viteModuleRunner: false, nodeLoader: false } };

const stores = {
  ...native,
  globalSetup: ['test/support/run/global-setup.ts'],
  teardownTimeout: 20_000,
  // These tests have processes, sockets and a browser of their own. A machine that stops for seconds can
  // break one; a mistake breaks it twice. The end of a run names what was tried again.
  retry: 1,
};

export default defineConfig({
  plugins: [summary],
  test: {
    // They end what hangs. Next to other work, a test can take twenty times as long as alone.
    testTimeout: runs(180_000),
    hookTimeout: runs(180_000),
    // A condition that a test waits for comes within this time even then.
    expect: { poll: { timeout: 60_000 } },
    // Some files wait rather than work, so there is one worker more than cores. Each worker starts services
    // of its own: more of them take more time together.
    maxWorkers: Math.min(4, availableParallelism() + 1),
    // Files share a worker with its modules: loading them anew takes longer than most tests.
    isolate: false,
    // All cores are busy with tests. Garbage is collected seldom, and by the thread that made it:
    // helpers would take its time from another test.
    execArgv: [
      ...['--no-memory-reducer', '--single-threaded-gc'],
      ...['--initial-old-space-size=512', '--min-semi-space-size=4'],
    ],
    // CDK checks each template by CloudFormation's rules, which takes longer than to make it.
    // The tests of test/integration/lib/stack.test.ts have it do so.
    //
    // The stores that tests start live for seconds: to compile them well would take longer.
    env: { CDK_VALIDATION: 'false', JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1' },
    setupFiles: ['test/support/run/reset.ts', 'test/support/run/properties.ts'],
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], ...native } },
      { test: { name: 'packages', include: ['packages/*/test/**/*.test.ts'], ...native, retry: 1 } },
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
