import type { AlertsQuery, alertsQuery } from '../../../api/alerts.ts';
import type { AnswerOf } from '../../../api/endpoint.ts';
import type { RequestBudget, Store, Table } from '../../../foundations/storage/index.ts';
import { formatTime } from '../../../foundations/wire/index.ts';
import { type LoadedAlert, type ParseAlert, readAlerts } from './alert.ts';
import { finite } from './look.ts';
import { targetName } from './message.ts';
import { type Dispatch, readHistory, readStandings, type Standings } from './register.ts';

type Answer = Omit<AnswerOf<typeof alertsQuery>, 'is_on'>;
type HistoryEntry = Answer['history'][number];

const toRow = (
  { objectId, digest, alert: { name, enabled } }: LoadedAlert,
  { alerts }: Standings,
): Answer['alerts'][number] => {
  const standing = alerts.get(objectId);
  const toTime = (time: number | null | undefined) => (time ? formatTime(time) : null);
  return {
    object_id: objectId,
    digest,
    name,
    state: enabled ? (standing?.state ?? null) : 'paused',
    since: toTime(standing?.since),
    value: finite(standing?.value ?? null),
    measured_at: toTime(standing?.end),
    problem: standing?.problem ?? null,
  };
};

const toEntries = ({ notifications }: Dispatch): HistoryEntry[] =>
  notifications.flatMap(({ message, sendings }): HistoryEntry[] => {
    const { id, alert, at, kind, state, previous, value, threshold, window } = message;
    if (kind === 'test') return [];
    return [
      {
        id,
        object_id: alert.object_id,
        at,
        kind,
        state,
        previous,
        value,
        threshold,
        window,
        deliveries: sendings.map(({ target, status, tries, problem }) => ({
          target: targetName(target),
          status,
          tries,
          problem,
        })),
      },
    ];
  });

/**
 * Answers the alerts of a project with their states, and what they have told.
 *
 * @param table where the register of alerts is
 */
export const queryAlerts = async (
  objects: Store,
  table: Table,
  { projectId, objectIds, limit }: Omit<AlertsQuery, 'includeWebhooks'>,
  parse: ParseAlert,
  budget: RequestBudget,
): Promise<Answer> => {
  const [alerts, standings] = await Promise.all([
    readAlerts(objects, projectId, objectIds, parse, budget),
    readStandings(table, projectId, budget),
  ]);
  const idSet = objectIds && new Set(objectIds);
  const history: HistoryEntry[] = [];
  const take = (dispatch: Dispatch): boolean => {
    history.push(...toEntries(dispatch).filter(({ object_id }) => !idSet || idSet.has(object_id)));
    return history.length < limit;
  };
  if (limit > 0) await readHistory(table, projectId, take, budget);
  return { alerts: alerts.map((alert) => toRow(alert, standings)), history: history.slice(0, limit) };
};
