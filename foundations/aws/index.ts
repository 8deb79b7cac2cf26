export * from './ask.ts';
export * from './events.ts';
export * from './invoke.ts';
export * from './signed.ts';
