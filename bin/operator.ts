import { type AuditedChange, appendAudit } from '../core/records/audit.ts';
import { requestBudget } from '../foundations/storage/index.ts';
import { type CommandOutput, Failure } from './common.ts';
import { type KeysLocation, outputsOfStack, readAuditDays, withTable } from './location.ts';

/** How long an entry may take, in milliseconds. */
const entryMs = 10_000;

const explain = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** @throws Failure if a stack has no output for the table */
const requireTable = async (stack: string, table: string): Promise<void> => {
  if ([...(await outputsOfStack(stack)).values()].includes(table)) return;
  throw new Failure(`${table} is no table of the stack ${stack}. Name its stack: --stack NAME`);
};

/**
 * Puts what an operator is about to do on the audit trail of a service, under the id of the operator's AWS access
 * key: CloudTrail says whose it is. Whoever can write to the tables themselves needs no trail, and may be repairing
 * the service, so what cannot be put there is done all the same, with a word of warning.
 *
 * @param location a table by its name has no trail
 * @param root the project's folder, absolute
 * @param about the name of the table that is changed, which a stack has to have. @default - it is about no table
 */
export const auditOperator = async (
  location: KeysLocation,
  root: string,
  changes: readonly AuditedChange[],
  { err }: Pick<CommandOutput, 'err'>,
  about?: string,
): Promise<void> => {
  if (location.kind === 'table') return;
  try {
    if (about !== undefined && location.kind === 'stack') await requireTable(location.name, about);
    const days = await readAuditDays(root);
    await withTable(location, root, 'audit', async (table) => {
      const { accessKeyId } = await table.client.config.credentials();
      const user = location.kind === 'local' ? 'local' : `aws:${accessKeyId}`;
      const actor = { kind: 'operator', user } as const;
      const entries = changes.map((change) => ({ ...change, actor, address: null }));
      await appendAudit({ table, days }, entries, requestBudget(entryMs));
    });
  } catch (error) {
    err(`This is not on the audit trail: ${explain(error)}`);
  }
};
