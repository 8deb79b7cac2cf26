import { afterAll, vi } from 'vitest';

/*
 * Files share a process and its modules. What a file replaces for itself is put back here, so that
 * the next one finds the process as it was.
 */
afterAll(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});
