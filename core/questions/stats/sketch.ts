/*
 * A sketch of a distribution with a bounded relative error: DDSketch (Masson, Rim, Lee, VLDB 2019),
 * with sparse bins. Bin k holds the values from gamma^(k−1), exclusive, to gamma^k, inclusive.
 */

/** The largest relative error of a value that is read back. */
export const relativeError = 0.01;

const gamma = (1 + relativeError) / (1 - relativeError);
const logGamma = Math.log(gamma);

/** Bins of one sign, by their numbers. */
export type Bins = Map<number, number>;

const binOf = (value: number): number => Math.ceil(Math.log(value) / logGamma);
/** The value that is within the error of all values of a bin. */
const middleOf = (bin: number): number => (2 * gamma ** bin) / (gamma + 1);

const increase = (bins: Bins, bin: number, count: number): void => {
  bins.set(bin, (bins.get(bin) ?? 0) + count);
};

/**
 * Counts of numbers, by size. Merging adds counts, so it makes no difference in which order or
 * grouping sketches are merged.
 */
export class Sketch {
  readonly positive: Bins = new Map();
  readonly negative: Bins = new Map();
  zeros = 0;

  /** Adds a number, which is finite. */
  add(value: number): void {
    if (value === 0) this.zeros++;
    else increase(value > 0 ? this.positive : this.negative, binOf(Math.abs(value)), 1);
  }

  /** Adds all that another sketch has. */
  merge(other: Sketch): void {
    for (const [bin, count] of other.positive) increase(this.positive, bin, count);
    for (const [bin, count] of other.negative) increase(this.negative, bin, count);
    this.zeros += other.zeros;
  }

  /**
   * The percentiles of what was added, by linear interpolation between neighbours: each within the
   * relative error of the exact value.
   *
   * @param percentiles from 0 to 100
   * @param range the smallest and the largest number that was added
   * @returns in the order of `percentiles`
   */
  percentiles(percentiles: readonly number[], [min, max]: readonly [number, number]): number[] {
    const sorted = this.#sorted();
    const count = sorted.reduce((sum, [, each]) => sum + each, 0);
    const at = (rank: number): number => {
      if (rank <= 0) return min;
      if (rank >= count - 1) return max;
      let left = rank;
      for (const [value, each] of sorted) {
        if (left < each) return Math.min(max, Math.max(min, value));
        left -= each;
      }
      return max;
    };
    return percentiles.map((percentile) => {
      const rank = (percentile / 100) * (count - 1);
      const [low, high] = [at(Math.floor(rank)), at(Math.ceil(rank))];
      return low + (high - low) * (rank - Math.floor(rank));
    });
  }

  /** Values with their counts, ascending. */
  #sorted(): [value: number, count: number][] {
    const ascending = (bins: Bins) => [...bins].sort(([a], [b]) => a - b);
    return [
      ...ascending(this.negative)
        .reverse()
        .map(([bin, count]): [number, number] => [-middleOf(bin), count]),
      ...(this.zeros > 0 ? [[0, this.zeros] as [number, number]] : []),
      ...ascending(this.positive).map(([bin, count]): [number, number] => [middleOf(bin), count]),
    ];
  }
}
