export * from './batches.ts';
export * from './plan.ts';
export * from './scan.ts';
export * from './sort.ts';
