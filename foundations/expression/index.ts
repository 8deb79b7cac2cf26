export * from './evaluate.ts';
export * from './parse.ts';
export * from './pushdown.ts';
export * from './tree.ts';
export * from './values.ts';
