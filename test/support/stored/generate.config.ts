import { defineConfig } from 'vitest/config';

/** Runs the generator; see README.md. */
export default defineConfig({
  test: {
    include: ['test/support/stored/generate.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
