export * from './dead-letters.ts';
export * from './measured.ts';
export * from './records.ts';
