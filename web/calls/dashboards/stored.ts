import { useMutation } from '@tanstack/react-query';
import { dashboardClass } from '../../../api/shared/classes.ts';
import { useRead, useSession } from '../../session/session.tsx';
import {
  byName,
  newObjectId,
  ofClass,
  readObjects,
  useStoreObject,
  versionsRequest,
} from '../../session/stored.ts';
import { useOnlyStart } from '../saved/store.ts';
import { type Dashboard, type Draft, parseDashboard, toValue } from './dashboard.ts';

/** The dashboards of a project, by name. */
export const useDashboards = (project: string) =>
  useRead(['dashboards', project], async (reading) => {
    const objects = await readObjects(reading, project, ofClass(dashboardClass));
    return byName(objects.flatMap((version) => parseDashboard(version) ?? []));
  });

/** A change of a dashboard: of the version that somebody looked at, or of whatever is the latest. */
interface Change {
  /** Undefined for a new one. */
  readonly id: string | undefined;
  /** The digest of the version that was looked at; another one is not changed. @default - any is */
  readonly version?: string | undefined;
  readonly makeDraft: (latest: Dashboard | undefined) => Draft;
}

/** Why a change was not saved. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';

  constructor() {
    super('Somebody saved a newer version of this dashboard. Your changes are still here.');
  }
}

/** Stores dashboards, and deletes them. Nobody's changes are lost without a word. */
export const useStoreDashboard = (project: string) => {
  const { client } = useSession();
  const store = useStoreObject(project, ['dashboards', 'saved views']);
  const keepOnly = useOnlyStart(project);
  /** @returns the id of the dashboard */
  const save = useMutation({
    mutationFn: async ({ id = newObjectId('dashboard'), version, makeDraft }: Change): Promise<string> => {
      const [found] = await readObjects({ client }, project, { ...versionsRequest(id), limit: 1 });
      const latest = found && parseDashboard(found);
      if (version !== undefined && latest?.digest !== version) throw new Overtaken();
      const draft = makeDraft(latest);
      await store.save.mutateAsync({ id, value: toValue(latest?.value ?? {}, draft) });
      if (draft.isStart && !latest?.isStart) await keepOnly(id);
      return id;
    },
  });
  return { save, remove: store.remove };
};
