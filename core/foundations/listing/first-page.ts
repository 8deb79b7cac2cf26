/** Rows asked for beyond an even share, since ranges are never quite even. */
const spare = 8;

/**
 * How many rows to ask each range for at first, when it is known how many rows are enough in all.
 * It is an even share and some to spare.
 */
export const evenShare = (rows: number, ranges: number): number => Math.ceil(rows / ranges) + spare;

/** With more ranges than this, none is read ahead: each would have up to 1 MB under way. */
const maxRangesAhead = 32;

/** Whether to read ranges ahead: all rows will be wanted, and the ranges are few. */
export const readsAhead = (
  { order, limit }: { readonly order: 'free' | 'sort'; readonly limit: number | null },
  ranges: number,
): boolean => (limit === null || order === 'sort') && ranges <= maxRangesAhead;
