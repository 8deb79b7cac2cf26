/**
 * A percentile, with linear interpolation between closest ranks: the value at the rank `percent /
 * 100 × (n − 1)`, counted from 0. Numpy's default method and spreadsheets' PERCENTILE.INC give the
 * same.
 *
 * @param ascending at least one value. For integers the answer is the double closest to the
 * percentile, as long as 100 times each is a safe integer
 * @param percent an integer from 0 to 100
 * @param unit how many of the values' units make one of the answer's
 */
export const percentile = (ascending: ArrayLike<number>, percent: number, unit = 1): number => {
  // In whole hundredths of a rank, and divided once at the end, since fractions would be rounded.
  const rank = percent * (ascending.length - 1);
  const below = ascending[Math.floor(rank / 100)] ?? Number.NaN;
  const above = ascending[Math.ceil(rank / 100)] ?? Number.NaN;
  return (100 * below + (rank % 100) * (above - below)) / (100 * unit);
};
