import type { Context } from 'aws-lambda';
import { type AlertTrial, alert } from '../api/alerts.ts';
import { type ParseAlert, readAlerts } from '../core/workers/alerts/alert.ts';
import { tryAlert } from '../core/workers/alerts/tell/try.ts';
import { type RequestBudget, requestBudget } from '../foundations/storage/index.ts';
import type { ProjectId } from '../foundations/wire/index.ts';
import { schemaInDialect } from './http/dialect.ts';
import { settings } from './http/settings.ts';
import { RequestLog } from './log/request-log.ts';
import { required } from './streams/queues.ts';
import { tell } from './streams/tell.ts';

/** What the function is woken for: by the schedule for nothing in particular, or to try an alert. */
interface AlertsEvent {
  readonly test?: { readonly projectId: ProjectId; readonly objectId: string };
}

const schema = schemaInDialect(alert());

const parseAlert: ParseAlert = (value) => {
  const result = schema.safeParse(value);
  return result.success ? result.data : undefined;
};

/** The time that is left for the answer and the log line, in milliseconds. */
const reserveMs = 2000;

/** Tries an alert; null if there is none of this name. */
const test = async (
  { projectId, objectId }: NonNullable<AlertsEvent['test']>,
  budget: RequestBudget,
): Promise<AlertTrial | null> => {
  const [loaded] = await readAlerts(settings.objects, projectId, [objectId], parseAlert, budget);
  return loaded ? tryAlert(tell, loaded, required('SERVICE_URL'), budget) : null;
};

/** Looks at alerts and tells of their changes, each minute: docs/alerts.md. */
export const handler = async (
  event: AlertsEvent,
  context: Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>,
): Promise<AlertTrial | null> => {
  const log = new RequestLog(
    { message: 'alerts', requestId: context.awsRequestId, route: 'alerts' },
    context,
  );
  const budget = requestBudget(context.getRemainingTimeInMillis() - reserveMs);
  log.spends(budget.meter);
  try {
    const tried = event.test ? await test(event.test, budget) : null;
    log.describes(() => ({ rows: tried?.targets.length ?? 0 }));
    log.ends('answered');
    return tried;
  } catch (error) {
    log.ends('failed', error);
    throw error;
  }
};
