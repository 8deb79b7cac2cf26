export * from './keys.ts';
export * from './packing.ts';
