export * from './formats.ts';
export * from './read.ts';
