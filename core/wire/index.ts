export * from './csv.ts';
export * from './errors.ts';
export * from './ids.ts';
export * from './json.ts';
export * from './names.ts';
export * from './project.ts';
export * from './refs.ts';
export * from './time.ts';
