/**
 * A percentile, with linear interpolation between closest ranks: the value at the rank `percent /
 * 100 × (n − 1)`, counted from 0, as numpy's default method and spreadsheets' PERCENTILE.INC have
 * it.
 *
 * @param ascending at least one value; of integers, as long as 100 times each is a safe one, the
 * answer is the double that is closest to the percentile
 * @param percent an integer from 0 to 100
 * @param unit how many of the values' units make one of the answer's
 */
export const percentile = (ascending: ArrayLike<number>, percent: number, unit = 1): number => {
  // In whole hundredths of a rank, and divided once at the end: fractions of doubles would already
  // be rounded.
  const rank = percent * (ascending.length - 1);
  const below = ascending[Math.floor(rank / 100)] ?? Number.NaN;
  const above = ascending[Math.ceil(rank / 100)] ?? Number.NaN;
  return (100 * below + (rank % 100) * (above - below)) / (100 * unit);
};
