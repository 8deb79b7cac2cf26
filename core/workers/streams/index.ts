export * from './call-items.ts';
export * from './dead-letters.ts';
export * from './isolate.ts';
export * from './measured.ts';
export * from './record.ts';
