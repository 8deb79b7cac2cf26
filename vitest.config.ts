import { defineConfig } from 'vitest/config';

const stores = {
  globalSetup: ['test/support/global-setup.ts'],
  pool: 'forks' as const,
  testTimeout: 60_000,
  hookTimeout: 60_000,
  teardownTimeout: 20_000,
};

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 20_000 } },
      { test: { name: 'integration', include: ['test/integration/**/*.test.ts'], ...stores } },
      { test: { name: 'reliability', include: ['test/reliability/**/*.test.ts'], ...stores } },
    ],
  },
});
