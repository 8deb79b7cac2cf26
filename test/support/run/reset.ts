import { afterAll, vi } from 'vitest';
import { workerMemory } from './memory.ts';

/*
 * Files share a process and its modules. What a file replaces for itself is put back here, so that
 * the next one finds the process as it was.
 */
// biome-ignore lint/correctness/noEmptyPattern: Vitest wants a pattern.
afterAll(({}, { file }) => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.useRealTimers();
  file.meta.worker = workerMemory();
});
