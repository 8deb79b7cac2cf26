export * from './hours.ts';
export * from './keys.ts';
export * from './marks.ts';
