export * from './bucket.ts';
export * from './items.ts';
export * from './reads.ts';
export * from './requests.ts';
export * from './store.ts';
export * from './table.ts';
