import { type RequestBudget, raiseNumber, type Table } from '../../foundations/storage/index.ts';
import type { TableKey } from '../../foundations/storage/tables.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { toPartition } from './partitions.ts';

/*
 * The register of projects with alerts, one partition of the table `bookkeeping`. What looks at alerts reads
 * it, so it never looks for projects that have none.
 */

/** The partition of the register. */
export const registerPartition = toPartition('alertRegister');

/** The key of a project in the register. */
export const registerKey = (projectId: ProjectId): TableKey<'bookkeeping'> => ({
  k: registerPartition,
  s: Buffer.from(projectId, 'utf8'),
});

/** The attribute that says until when alerts may be changing, in milliseconds since 1970. */
export const changingUntil = 'u';

/** What a change of an alert may outlive its request by, with all that clocks differ. */
const graceMs = 10_000;

/**
 * Notes that a project's alerts are about to change, so that the next look reads them anew.
 *
 * @throws ServiceError 503 when storage does not accept it in time; nothing may be changed then
 */
export const noteAlerts = async (
  table: Table,
  projectId: ProjectId,
  budget: RequestBudget,
): Promise<void> => {
  const value = budget.deadline + graceMs;
  await raiseNumber(table, { key: registerKey(projectId), attribute: changingUntil, value }, budget);
};
