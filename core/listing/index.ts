export * from './batches.ts';
export * from './first-page.ts';
export { Heap } from './heap.ts';
export { type Keyed, type KeySorting, keyBytes, sortedByKeys } from './key-sorting.ts';
export { mapAhead } from './map-ahead.ts';
export * from './plan.ts';
export * from './scan.ts';
export { type Slice, takeSlice } from './slice.ts';
export { sortTies } from './ties.ts';
