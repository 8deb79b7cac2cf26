export * from './answer.ts';
export { matchesQuery, type Operand } from './expression.ts';
export type { FilterJson } from './filter.ts';
export { knownCall } from './known.ts';
export { type Conversion, canonical } from './values.ts';
