export * from './errors.ts';
export * from './ids.ts';
export * from './json.ts';
export * from './time.ts';
