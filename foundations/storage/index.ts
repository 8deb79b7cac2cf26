export * from './bucket.ts';
export * from './requests.ts';
export * from './retention.ts';
export * from './store.ts';
export * from './table.ts';
