import type { Page } from 'playwright-core';

/** What has moved on a page, as the browser has noted it, whether somebody had just clicked or not. */
interface Shift {
  /** All moves together. Each is the share of the screen that moved, times how far it moved. */
  readonly sum: number;
  /** The parts that moved: how much each move was, and what moved. */
  readonly parts: readonly string[];
}

/** How long the browser may take to tell of the last move, in ms. */
const toldMs = 300;

/** How much the parts of a page have moved since it was opened. */
export const readShift = (page: Page): Promise<Shift> =>
  page.evaluate(`new Promise((resolve) => {
    const moves = [];
    new PerformanceObserver((list) => moves.push(...list.getEntries())).observe({
      type: 'layout-shift',
      buffered: true,
    });
    setTimeout(
      () =>
        resolve({
          sum: moves.reduce((sum, { value }) => sum + value, 0),
          parts: moves.flatMap(({ value, sources }) =>
            sources.map(({ node }) => value.toFixed(3) + ' ' + (node?.className || node?.nodeName)),
          ),
        }),
      ${toldMs},
    );
  })`);
