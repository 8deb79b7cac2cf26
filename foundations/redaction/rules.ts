import type { Builtin } from './builtins.ts';

/** What becomes of what a rule finds. */
export const actions = ['label', 'hash', 'drop'] as const;

export type Action = (typeof actions)[number];

/**
 * A rule as the setting `redact` has it. It looks for a built-in form or for a pattern, everywhere or
 * below its paths. With paths alone it takes whatever is there.
 */
export interface Rule {
  /** What stands in the place of what it finds: `[name]`. */
  readonly name: string;
  readonly builtin?: Builtin | undefined;
  /** A regular expression in RE2's syntax. */
  readonly pattern?: string | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly action: Action;
}

/** Where a path can begin: fields of calls, of feedback, of objects and of tables, in this order. */
export const roots = [
  'inputs',
  'output',
  'attributes',
  'summary',
  'exception',
  'thread_id',
  'display_name',
  'payload',
  'val',
  'rows',
] as const;

export type Root = (typeof roots)[number];

/** Any key of an object, and any item of a list. */
export const anyStep = '*';

/** The steps of a path: `a.b`, `a.*.c`. A dot that belongs to a key has a `\` before it. */
export const splitPath = (path: string): string[] =>
  path.split(/(?<!\\)\./).map((step) => step.replaceAll('\\.', '.'));

/** What is wrong with a path; undefined if nothing is. */
export const pathProblem = (path: string): string | undefined => {
  const [root = '', ...below] = splitPath(path);
  if (!(roots as readonly string[]).includes(root))
    return `write a path that begins with one of ${roots.join(', ')}: inputs.customer.email, attributes.*.token`;
  const structural = below.find((step) => structuralKeys.has(step));
  if (structural !== undefined)
    return `write a path without ${structural}, which says of what class a value is and is never redacted`;
  return below.includes('') ? 'write a path without an empty step: inputs.customer.email' : undefined;
};

/**
 * Fields that say of what class a value is. What a value is decides who may store it and what becomes
 * of it, so no rule makes it something else.
 */
export const structuralKeys: ReadonlySet<string> = new Set([
  '_type',
  '_bases',
  '_class_name',
  'base_object_class',
]);

/** Whether a rule takes whatever is at its paths. */
export const isOfFields = ({ builtin, pattern }: Rule): boolean =>
  builtin === undefined && pattern === undefined;

/** What is only ever hashed, so that equal ones stay together: threads and end users. Op names are too. */
export const hashedPaths: readonly (readonly string[])[] = [['thread_id'], ['attributes', 'user', 'id']];

/** Whether a path leads to or above something that is only ever hashed. */
const reachesHashed = (path: string): boolean => {
  const steps = splitPath(path);
  return hashedPaths.some((hashed) =>
    steps.slice(0, hashed.length).every((step, i) => step === anyStep || step === hashed[i]),
  );
};

/**
 * Whether rules may need the key of hashes: one of them hashes, or reaches a thread, an end user or
 * an op's name.
 */
export const needsKey = (rules: readonly Rule[]): boolean =>
  rules.some(({ action, paths }) => action === 'hash' || !paths || paths.some(reachesHashed));
