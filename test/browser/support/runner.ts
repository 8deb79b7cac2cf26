import { inject, type RunnerTestFile, TestRunner } from 'vitest';

/** Skips the tests of the page, and what is done before them, where there is no browser. */
export default class BrowserRunner extends TestRunner {
  override onCollectStart(file: RunnerTestFile): void {
    super.onCollectStart(file);
    const { lacks } = inject('page');
    if (lacks === undefined) return;
    file.meta.lacks = lacks;
    // Nothing matches it. A file without a test to run has no hooks to run either.
    this.config.testNamePattern = /(?!)/;
  }
}
