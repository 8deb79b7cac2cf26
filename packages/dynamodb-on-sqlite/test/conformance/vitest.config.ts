import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: process.env.CONFORMANCE_SUITE ?? '',
    include: ['tests/**/*.test.ts'],
    setupFiles: [join(import.meta.dirname, 'setup.ts')],
    globals: true,
    testTimeout: 30_000,
    hookTimeout: 120_000,
    maxWorkers: 1,
    isolate: false,
  },
});
