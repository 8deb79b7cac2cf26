import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import type { TestOptions } from 'vitest';
import type { Plugin } from 'vitest/config';
import type { Reporter, TestModule } from 'vitest/node';
import { noteMemory, workersMemory } from './memory.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** What this machine lacks, so that the test is skipped. */
    lacks?: string;
  }
}

const starts = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;

/** What only some tests need, and whether this machine has it. */
const requirements = {
  'Java 17 or newer': () => {
    const { status, stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
    return status === 0 && Number(/version "(\d+)/.exec(stderr)?.[1]) >= 17;
  },
  'Python 3': () => starts('python3', '--version'),
  'Python 3 and its registry': () => {
    const install = [
      'install',
      '--dry-run',
      '--ignore-installed',
      '--no-deps',
      '--retries',
      '0',
      'setuptools',
    ];
    return starts('python3', '-m', 'pip', '--quiet', ...install);
  },
  curl: () => starts('curl', '--version'),
  jq: () => starts('jq', '--version'),
  'Linux on x64': () => process.platform === 'linux' && process.arch === 'x64',
  '/proc, which Linux has': () => existsSync('/proc/self/environ'),
} as const satisfies Record<string, () => boolean>;

export type Requirement = keyof typeof requirements;

const known = new Map<Requirement, boolean>();

/** Whether this machine has what only some tests need. */
export const has = (requirement: Requirement): boolean => {
  const found = known.get(requirement) ?? requirements[requirement]();
  known.set(requirement, found);
  return found;
};

/**
 * The options of a test, or of a group of them, that needs something besides Node: it is skipped where
 * that is missing, and the end of the run says so.
 */
export const requires = (requirement: Requirement): TestOptions =>
  has(requirement) ? {} : { skip: true, meta: { lacks: requirement } };

/** How many tests were skipped for each thing that is missing, as a line; undefined if none was. */
const skippedLine = (modules: Iterable<Pick<TestModule, 'children' | 'meta'>>): string | undefined => {
  const counts = new Map<string, number>();
  for (const module of modules)
    for (const test of module.children.allTests('skipped')) {
      const lacks = test.meta().lacks ?? module.meta().lacks;
      if (lacks !== undefined) counts.set(lacks, (counts.get(lacks) ?? 0) + 1);
    }
  const parts = [...counts].map(([lacks, count]) => `${count} for ${lacks}`);
  return parts.length === 0
    ? undefined
    : `Skipped, because this machine lacks something: ${parts.join('; ')}`;
};

/** The tests that failed first and then passed, a line each; undefined if there was none. */
const flakyLines = (modules: Iterable<Pick<TestModule, 'children' | 'moduleId'>>): string | undefined => {
  const lines: string[] = [];
  for (const module of modules)
    for (const test of module.children.allTests('passed'))
      if (test.diagnostic()?.flaky)
        lines.push(`  ${relative(process.cwd(), module.moduleId)} > ${test.fullName}`);
  return lines.length === 0
    ? undefined
    : `Failed at first, and passed when tried again:\n${lines.join('\n')}`;
};

const reporter: Reporter = {
  onTestModuleEnd: (module) => {
    const line = noteMemory(module);
    if (process.env.TEST_MEMORY) console.log(line);
  },
  onTestRunEnd: (modules) => {
    const memory = workersMemory(modules);
    for (const text of [skippedLine(modules), flakyLines(modules), memory.text])
      if (text !== undefined) console.log(`${text}\n`);
    if (memory.exceeds) process.exitCode = 1;
  },
};

/** Ends each run with what was skipped or tried again, and its memory, whatever other reporters it has. */
export const summary: Plugin = {
  name: 'pennytrace:summary',
  configureVitest: ({ vitest: { config } }) => {
    // Each project asks.
    if (!config.reporters.includes(reporter)) config.reporters.push(reporter);
  },
};
