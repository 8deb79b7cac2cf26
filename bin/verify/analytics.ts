import { eventually, NotTried, Red, requireStack, type Target } from './check.ts';
import { askJson } from './deployed.ts';

const minute = 60_000;

/** Athena finds the calls of this run in their files, through the view. */
export const analytics = async (target: Target): Promise<void> => {
  const stack = requireStack(target);
  const { project, run } = target;
  const database = stack.outputs.AnalyticsDatabase;
  if (database === undefined) throw new NotTried('the stack does not have the setting analytics');
  const athena = (action: string, body: object) => askJson(stack, 'athena', `AmazonAthena.${action}`, body);
  // The run may be older than midnight.
  const day = new Date(Date.now() - 60 * minute).toISOString().slice(0, 10);
  const count = async (): Promise<number> => {
    const { QueryExecutionId } = (await athena('StartQueryExecution', {
      QueryString: `SELECT count(*) FROM calls WHERE project = '${project}' AND day >= '${day}' AND trace_id = '${run}'`,
      QueryExecutionContext: { Database: database },
      WorkGroup: database,
    })) as { QueryExecutionId: string };
    await eventually(
      target,
      async () => {
        const { QueryExecution } = (await athena('GetQueryExecution', { QueryExecutionId })) as {
          QueryExecution: { Status: { State: string; StateChangeReason?: string } };
        };
        const { State, StateChangeReason = '' } = QueryExecution.Status;
        return State === 'SUCCEEDED'
          ? undefined
          : new Red(`Athena: ${State} ${StateChangeReason}`, 'docs/analytics.md');
      },
      minute,
    );
    const { ResultSet } = (await athena('GetQueryResults', { QueryExecutionId })) as {
      ResultSet: { Rows: { Data: { VarCharValue?: string }[] }[] };
    };
    return Number(ResultSet.Rows[1]?.Data[0]?.VarCharValue ?? 0);
  };
  await eventually(
    target,
    async () =>
      (await count()) > 0
        ? undefined
        : new Red('Athena finds none of the calls', 'docs/analytics.md: when rows come'),
    8 * minute,
    5000,
  );
};
