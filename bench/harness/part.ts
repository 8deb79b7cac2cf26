import type { Bench } from './bench.ts';
import type { Call } from './calls.ts';
import type { Figure } from './figures.ts';

/** What every part of the bench gets. */
export interface BenchContext {
  /** The calls to measure with, from the generator or a file. */
  readonly calls: readonly Call[];
  /** The numbers of calls over which growth is measured, ascending, at least one. */
  readonly sizes: readonly number[];
  /**
   * DynamoDB Local with tables of the deployed schema. It is started at the first call and shared
   * by all parts.
   */
  readonly bench: () => Promise<Bench>;
  /** Prints a step to standard error. */
  readonly progress: (text: string) => void;
}

/** A part of the bench. `npm run bench` runs all of them, `npm run bench -- --only <name>` some. */
export interface BenchPart {
  /** Its name on the command line. */
  readonly name: string;
  /** A line above its table that says what it measures. */
  readonly title: string;
  /**
   * Measures.
   *
   * @throws Error if the measured code fails
   */
  readonly run: (context: BenchContext) => Promise<readonly Figure[]>;
}
