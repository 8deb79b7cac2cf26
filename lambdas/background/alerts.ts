import type { Context } from 'aws-lambda';
import type { AlertTrial } from '../../api/alerts.ts';
import { readAlerts } from '../../core/workers/alerts/alert.ts';
import { KnownAlerts, lookAtAlerts, type Watch } from '../../core/workers/alerts/look.ts';
import { tryAlert } from '../../core/workers/alerts/tell/try.ts';
import { createLinks } from '../../foundations/links.ts';
import { type RequestBudget, requestBudget } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { stores } from '../common/http/stores.ts';
import { RequestLog } from '../common/log/request-log.ts';
import { alertSources } from '../common/streams/alert-sources.ts';
import { parseAlert } from '../common/streams/parse-alert.ts';
import { required } from '../common/streams/queues.ts';
import { listWebhooks, send, tellIssue } from '../common/streams/tell.ts';

/** What the function is woken for: by the schedule for nothing in particular, to try an alert, or to name webhooks. */
interface AlertsEvent {
  readonly test?: { readonly projectId: ProjectId; readonly objectId: string };
  readonly webhooksOf?: ProjectId;
}

const serviceUrl = required('SERVICE_URL');

/** Made once per container, while it starts. Alerts are remembered as long as nobody changes them. */
const watch: Watch = {
  table: stores.bookkeeping,
  sources: alertSources,
  alerts: new KnownAlerts(stores.objects, parseAlert),
  send,
  tellIssue,
  links: createLinks(serviceUrl),
  now: Date.now,
};

/** The time that is left for the answer and the log line, in milliseconds. */
const reserveMs = 2000;

/** Tries an alert; null if there is none of this name. */
const test = async (
  { projectId, objectId }: NonNullable<AlertsEvent['test']>,
  budget: RequestBudget,
): Promise<AlertTrial | null> => {
  const [loaded] = await readAlerts(stores.objects, projectId, [objectId], parseAlert, budget);
  return loaded ? tryAlert(send, loaded, watch.links, budget) : null;
};

/** Looks at alerts and tells of their changes, each minute: docs/alerts.md. */
export const handler = async (
  event: AlertsEvent,
  context: Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>,
): Promise<AlertTrial | readonly string[] | null> => {
  const log = new RequestLog(
    { message: 'alerts', requestId: context.awsRequestId, route: 'alerts' },
    context,
  );
  const budget = requestBudget(context.getRemainingTimeInMillis() - reserveMs);
  log.spends(budget.meter);
  try {
    if (event.test) {
      const tried = await test(event.test, budget);
      log.describes(() => ({ rows: tried?.targets.length ?? 0 }));
      log.ends('answered');
      return tried;
    }
    if (event.webhooksOf !== undefined) {
      const names = await listWebhooks(event.webhooksOf, budget);
      log.describes(() => ({ rows: names.length }));
      log.ends('answered');
      return names;
    }
    const { looks, undelivered, problems } = await lookAtAlerts(watch, budget);
    log.describes(() => ({ rows: looks }));
    const [problem] = problems;
    if (problem !== undefined) log.ends('failed', problem);
    else if (undelivered > 0) log.ends('failed', `${undelivered} messages could not be delivered`);
    else log.ends('answered');
    return null;
  } catch (error) {
    log.ends('failed', error);
    throw error;
  }
};
