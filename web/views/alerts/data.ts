import { useMutation } from '@tanstack/react-query';
import { alertClass } from '../../../api/shared/classes.ts';
import type { Answer } from '../../api/contract.ts';
import { useRead, useSession } from '../../session/session.tsx';
import { ofClass, readObjects, useStoreObject } from '../../session/stored.ts';
import { type Alert, type AlertValue, parseAlert } from './alert.ts';

export type AlertRow = Answer<'/alerts/query'>['alerts'][number];
export type HistoryEntry = Answer<'/alerts/query'>['history'][number];

/** An alert with its state. */
export interface Watched extends Alert {
  /** Undefined as long as nobody has looked. */
  readonly row: AlertRow | undefined;
}

/** How often states are read again, in ms: alerts are looked at every minute at most. */
const interval = 30_000;

/** The most changes that are read. */
const maxHistory = 1000;

/** The alerts of a project by their ids, with their states and what they told, newest first. */
export const useAlerts = (project: string) =>
  useRead(
    ['alerts', project],
    async (reading) => {
      const request = { project_id: project, limit: maxHistory };
      const [objects, states] = await Promise.all([
        readObjects(reading, project, ofClass(alertClass)),
        reading.client.ask('/alerts/query', request, reading.signal),
      ]);
      const rows = new Map(states.alerts.map((row) => [row.object_id, row]));
      const alerts = objects.flatMap((version): Watched[] => {
        const alert = parseAlert(version);
        return alert ? [{ ...alert, row: rows.get(alert.id) }] : [];
      });
      return {
        isOn: states.is_on,
        alerts: alerts.toSorted((a, b) => a.value.name.localeCompare(b.value.name)),
        history: states.history,
      };
    },
    { refetchInterval: interval },
  );

/** The names of the webhooks that alerts of a project can tell; none until they are known. */
export const useWebhooks = (project: string): readonly string[] => {
  const { data = [] } = useRead(['alerts', project, 'names of webhooks'], async ({ client, signal }) => {
    const request = { project_id: project, object_ids: [], limit: 0, include_webhooks: true };
    return (await client.ask('/alerts/query', request, signal)).webhooks ?? [];
  });
  return data;
};

/** Stores versions of alerts, and deletes alerts. */
export const useStoreAlert = (project: string) => useStoreObject<AlertValue>(project, ['alerts']);

/** Sends a test message through an alert's targets. */
export const useTrial = (project: string) => {
  const { client } = useSession();
  return useMutation({
    mutationFn: (id: string) => client.ask('/alerts/test', { project_id: project, object_id: id }),
  });
};
