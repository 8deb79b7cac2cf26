import { cpu } from './cpu.ts';
import type { Part } from './part.ts';
import { starts } from './starts.ts';
import { writes } from './writes.ts';

/** All parts of the bench, in the order they run in: what is counted, then what is timed. */
export const parts: readonly Part[] = [writes, cpu, starts];
