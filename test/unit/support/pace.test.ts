import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pace, paced } from '../../support/run/pace.ts';

const module = join(import.meta.dirname, '../../support/run/pace.ts');

/** What a process with an environment of its own makes of a second. */
const secondWith = (environment: NodeJS.ProcessEnv): number => {
  const code = `import(${JSON.stringify(module)}).then(({ paced }) => console.log(paced(1000)))`;
  return Number(execFileSync(process.execPath, ['-e', code], { env: environment, encoding: 'utf8' }));
};

it('Workers have the pace that the run measured', () => {
  expect(Number(process.env.TEST_PACE)).toBe(pace);
  expect(paced(1000)).toBe(Math.ceil(1000 * pace));
});

it('A busy machine has more time, as much as it is told', () => {
  expect(secondWith({ TEST_PACE: '4.5' })).toBe(4500);
});

it('A machine is measured once, and none has less time than a quiet one', () => {
  expect(secondWith({})).toBeGreaterThanOrEqual(1000);
});
