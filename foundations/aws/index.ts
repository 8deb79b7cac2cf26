export * from './ask.ts';
export * from './events.ts';
export * from './signed.ts';
