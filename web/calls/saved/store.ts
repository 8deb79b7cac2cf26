import { hashKey, useMutation } from '@tanstack/react-query';
import { useStoreObject } from '../../session/stored.ts';
import { type SavedView, savedClass, useSaved } from './saved.ts';

/* What changes saved views, apart from what opens them: the list of traces loads without it. */

/** What is read again once views or dashboards have changed. */
const kinds = ['saved views', 'dashboards'];

/** Has a project open with one thing: nothing else is its start any more. */
export const useOnlyStart = (project: string) => {
  const { save } = useStoreObject(project, kinds);
  const { data, refetch } = useSaved(project, false);
  return async (id: string): Promise<void> => {
    const { starts = [] } = (await refetch()).data ?? data ?? {};
    for (const { id: other, value } of starts) {
      const { is_start: _start, is_default: _default, ...rest } = value;
      if (other !== id) await save.mutateAsync({ id: other, value: rest });
    }
  };
};

/** The saved views of a project, by name, and what changes them. */
export const useSavedViews = (project: string, enabled: boolean) => {
  const store = useStoreObject(project, kinds);
  const query = useSaved(project, enabled);
  const keepOnly = useOnlyStart(project);
  /** Saves a view. Whatever else was the start is not any more if this one is. */
  const save = useMutation({
    mutationFn: async ({ id, name, view, search, isDefault }: SavedView) => {
      const value = { _type: savedClass, name, view, search, ...(isDefault && { is_default: true }) };
      await store.save.mutateAsync({ id, value });
      if (isDefault) await keepOnly(id);
    },
  });
  return { query, views: query.data?.views, save, remove: store.remove };
};

/** Whether two states are the same. */
export const isSame = (a: object, b: object): boolean => hashKey([a]) === hashKey([b]);
