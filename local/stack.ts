import { getOutput, type StackSpec } from 'cdk-local-runner/template';
import { type NamedTable, tables } from '../foundations/storage/tables.ts';

/**
 * The name of one of the stack's tables, as an output has it.
 *
 * @throws Error if the stack has no such output
 */
export const getTableName = (stack: Pick<StackSpec, 'outputs'>, table: NamedTable): string =>
  getOutput(stack, tables[table].output);
