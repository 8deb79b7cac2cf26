/** What drawing rows again and again says of the mean of their differences. */
export interface Chance {
  /** The mean of all differences. */
  readonly difference: number;
  /** The bounds within which 95 % of the draws have their mean. */
  readonly low: number;
  readonly high: number;
  /** The share of the draws, from 0 to 1, whose mean is 0 or has the other sign. */
  readonly share: number;
  /** How many rows there are, and how often as many were drawn of them. */
  readonly rows: number;
  readonly draws: number;
}

/**
 * The fewest rows that can tell. Of five, each can have changed the same way by chance in one of 32
 * cases: more than the 2.5 % that each end of the interval leaves out.
 */
export const fewestRows = 6;

/** Differences may be chance if more than this share of the draws do not show them. */
export const chanceShare = 0.025;

/** How many rows are drawn in all, so that it takes some 20 ms; and how many draws there are. */
const maxDrawn = 1_000_000;
const minDraws = 200;
const maxDraws = 2000;

/** Numbers from 0 up to a bound, the same ones for a seed: xorshift32 (Marsaglia, 2003). */
const randomFrom = (seed: number): ((below: number) => number) => {
  let state = seed | 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor(((state >>> 0) / 2 ** 32) * below);
  };
};

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Whether the mean of paired differences could be chance, by the paired bootstrap (Efron, 1979): as
 * many rows as there are, drawn from them with repetition, again and again. The bounds are the
 * percentiles of the means.
 *
 * @param differences one for each row that both runs have
 * @returns the same for the same differences; undefined for fewer than {@link fewestRows}
 */
export const computeChance = (differences: readonly number[], seed = 1): Chance | undefined => {
  const rows = differences.length;
  if (rows < fewestRows) return undefined;
  const difference = mean(differences);
  const random = randomFrom(seed);
  const draws = Math.min(maxDraws, Math.max(minDraws, Math.floor(maxDrawn / rows)));
  const means = new Float64Array(draws);
  const values = Float64Array.from(differences);
  for (let draw = 0; draw < draws; draw++) {
    let sum = 0;
    for (let row = 0; row < rows; row++) sum += values[random(rows)] ?? 0;
    means[draw] = sum / rows;
  }
  means.sort();
  const sign = Math.sign(difference);
  // Sums of decimals that cancel each other out are a little beside 0.
  const nothing = 1e-12 * differences.reduce((most, difference) => Math.max(most, Math.abs(difference)), 0);
  const others = means.filter((mean) => mean * sign <= nothing).length;
  return {
    difference,
    low: means[Math.floor(draws * chanceShare)] ?? difference,
    high: means[Math.ceil(draws * (1 - chanceShare)) - 1] ?? difference,
    share: others / draws,
    rows,
    draws,
  };
};
