import { spawnSync } from 'node:child_process';
import type { TestOptions } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** What this machine lacks, so that the test is skipped. */
    lacks?: string;
  }
}

const found = spawnSync('java', ['-version'], { encoding: 'utf8' });

/** Whether this machine has the Java that DynamoDB Local needs. */
export const hasJava = found.status === 0 && Number(/version "(\d+)/.exec(found.stderr)?.[1]) >= 17;

/** The options of tests that compare with DynamoDB Local: they are skipped where there is no Java. */
export const requiresJava: TestOptions = hasJava ? {} : { skip: true, meta: { lacks: 'Java 17 or newer' } };

/** How often a property is tried: with `DEEP=1` as often as the second number says. */
export const runs = (ordinary: number, inDeep: number): number =>
  process.env.DEEP === '1' ? inDeep : ordinary;
