export { describe } from './describe.ts';
export { compile, type Reader, timeLiteral } from './evaluate.ts';
export * from './model.ts';
export { maxPath, type Parsed, parseQuery, pathProblem } from './parse.ts';
export { type Presence, presenceOf } from './presence.ts';
export * from './pushdown.ts';
export * from './schema.ts';
export * from './sort.ts';
export { compareText, keysTo, microsOf, type Value, valueAt } from './values.ts';
