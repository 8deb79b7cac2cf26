export { type RunningStack, type RunOptions, runStack, sourceNames } from './run.ts';
export { startS3 } from './s3.ts';
export { createBuckets, createTables, localCredentials, storeEnvironment } from './stores.ts';
