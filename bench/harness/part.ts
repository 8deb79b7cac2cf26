import type { Bench } from './bench.ts';
import type { Call } from './calls.ts';
import type { Figure } from './figures.ts';

/** What every part of the bench is given. */
export interface BenchContext {
  /** The calls to measure with: the generator's, or a file's. */
  readonly calls: readonly Call[];
  /** What growth is measured over: how many calls, ascending, at least one. */
  readonly sizes: readonly number[];
  /**
   * DynamoDB Local with tables of the deployed schema: started when it is first asked for, the same
   * for all parts.
   */
  readonly bench: () => Promise<Bench>;
  /** Says on stderr what is being done. */
  readonly progress: (text: string) => void;
}

/**
 * A part of the bench: `npm run bench` runs all, `npm run bench -- --only <name>` some. They are
 * listed in `parts.ts`.
 */
export interface Part {
  /** Its name on the command line. */
  readonly name: string;
  /** What it measures, in one line, above its table. */
  readonly title: string;
  /** Measures; throws where something does not work. */
  readonly run: (context: BenchContext) => Promise<readonly Figure[]>;
}
