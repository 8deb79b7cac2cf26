import { inject, type RunnerTestSuite, type SerializedConfig } from 'vitest';
import AnewRunner from '../../support/run/runner.ts';

/** Skips the tests of the page, and what is done before them, where there is no browser. */
export default class BrowserRunner extends AnewRunner {
  readonly #lacks = inject('page').lacks;

  constructor(config: SerializedConfig) {
    super(config);
    // Nothing matches it. A file without a test to run has no hooks to run either.
    if (this.#lacks !== undefined) config.testNamePattern = /(?!)/;
  }

  override async onBeforeRunSuite(suite: RunnerTestSuite): Promise<void> {
    if (this.#lacks !== undefined) suite.meta.lacks = this.#lacks;
    await super.onBeforeRunSuite(suite);
  }
}
