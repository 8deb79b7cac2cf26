export * from './bucket.ts';
export * from './clients.ts';
export * from './effort.ts';
export * from './table.ts';
