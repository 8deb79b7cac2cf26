import { type RunnerTask, type RunnerTestSuite, TestRunner, type TestTryOptions } from 'vitest';
import { stopSharedServices } from '../service/shared.ts';

/** The suites that a test is in, from its file inwards. */
const getSuites = ({ suite, file }: Pick<RunnerTask, 'suite' | 'file'>): RunnerTestSuite[] =>
  suite ? [...getSuites(suite), suite] : [file];

/** Does again what is done before and after all tests of some suites. */
const beginAnew = async (suites: readonly RunnerTestSuite[]): Promise<void> => {
  const getHooks = (suite: RunnerTestSuite) => TestRunner.getSuiteHooks(suite);
  for (const suite of suites.toReversed())
    for (const hook of getHooks(suite).afterAll.toReversed()) await hook(suite);
  await stopSharedServices();
  for (const suite of suites) for (const hook of getHooks(suite).beforeAll) await hook(suite);
};

/**
 * Has a test that failed twice begin anew: what is done before the tests of its file is done again, and
 * shared services are new, so that it finds nothing of what its first tries left behind. That takes some
 * seconds, and a test may need what those before it did, so the second try goes on where the first ended.
 * `npx vitest run --repeats=1 --retry=0` shows whether tests can begin anew.
 */
export default class AnewRunner extends TestRunner {
  override async onBeforeTryTask(test: RunnerTask, options: TestTryOptions): Promise<void> {
    super.onBeforeTryTask(test, options);
    const isConcurrent = getSuites(test).some(({ concurrent }) => concurrent) || test.concurrent;
    // Beside concurrent tests, others use what there is.
    if ((options.retry > 1 || options.repeats > 0) && !isConcurrent) await beginAnew(getSuites(test));
  }
}
