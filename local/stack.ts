import { outputOf, type StackSpec } from 'cdk-local-runner/template';
import { type NamedTable, tables } from '../foundations/storage/tables.ts';
import { type Dialect, dialectOf } from '../weave/policy.ts';

/**
 * The name of one of the stack's tables, as an output has it.
 *
 * @throws Error if the stack has no such output
 */
export const tableNameOf = (stack: Pick<StackSpec, 'outputs'>, table: NamedTable): string =>
  outputOf(stack, tables[table].output);

/** The service's name: its dialect, as its functions have it in their environment. */
export const serviceOf = ({ functions }: Pick<StackSpec, 'functions'>): Dialect =>
  dialectOf(functions.find(({ environment }) => environment.DIALECT)?.environment.DIALECT);
