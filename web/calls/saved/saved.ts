import { hashKey, useMutation } from '@tanstack/react-query';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { isObject } from '../../data/values.ts';
import { useRead } from '../../session/session.tsx';
import { byName, ofClass, readObjects, useStoreObject } from '../../session/stored.ts';

/** The views whose state can be saved. */
const savable = ['traces', 'overview'] as const;

export type Savable = (typeof savable)[number];

/** A view's state under a name, for everybody in the project: the value of an object. */
export interface SavedView {
  /** The object that it is. */
  readonly id: string;
  readonly name: string;
  readonly view: Savable;
  /** The state as the view's URL has it, without the project. */
  readonly search: Readonly<Record<string, unknown>>;
  /** Whether the project opens with it. */
  readonly isDefault: boolean;
}

/** The class of the objects, which they are found by. */
const savedClass = 'SavedView';

const parseSaved = (id: string, value: unknown): SavedView[] => {
  if (!isObject(value) || typeof value.name !== 'string' || !isObject(value.search)) return [];
  const view = savable.find((known) => known === value.view);
  if (!view) return [];
  return [{ id, name: value.name, view, search: value.search, isDefault: value.is_default === true }];
};

/** The saved views of a project, by name, and what changes them. */
export const useSavedViews = (project: string, enabled: boolean) => {
  const store = useStoreObject(project, ['saved views']);
  const query = useRead(
    ['saved views', project],
    async (reading) => {
      const objects = await readObjects(reading, project, ofClass(savedClass));
      return byName(objects.flatMap(({ object_id, val }) => parseSaved(object_id, val)));
    },
    { enabled },
  );
  const storeOne = ({ id, name, view, search, isDefault }: SavedView) => {
    const value = { _type: savedClass, name, view, search, ...(isDefault && { is_default: true }) };
    return store.save.mutateAsync({ id, value });
  };
  /** Saves a view. Another stops being the default if this one is. */
  const save = useMutation({
    mutationFn: async (saved: SavedView) => {
      await storeOne(saved);
      if (!saved.isDefault) return;
      const others = (query.data ?? []).filter(({ id, isDefault }) => isDefault && id !== saved.id);
      for (const other of others) await storeOne({ ...other, isDefault: false });
    },
  });
  return { query, save, remove: store.remove };
};

/** A view's state as it is saved: without the project, and without what only its reader chose. */
export const savedState = (search: object): Record<string, unknown> => {
  const {
    project: _project,
    live: _live,
    peek: _peek,
    call: _call,
    ...state
  } = search as Record<string, unknown>;
  return state;
};

/** Whether two states are the same. */
export const isSame = (a: object, b: object): boolean => hashKey([a]) === hashKey([b]);

/** Whether a list has no state but its columns, which this device may have added. */
const isBare = (search: object): boolean =>
  Object.keys(savedState(search)).every((field) => field === 'columns' || field === 'layout');

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Whether somebody enters the project, and did not ask for this very view. */
    enter?: boolean;
  }
}

/** Leads whoever enters a project to its default view, if there is one. */
export const useDefaultView = (search: { readonly project: string }): void => {
  const navigate = useNavigate();
  const { project } = search;
  const enters =
    useRouterState({ select: ({ location }) => location.state.enter === true }) && isBare(search);
  const { data } = useSavedViews(project, enters).query;
  const found = enters ? data?.find(({ isDefault }) => isDefault) : undefined;
  useEffect(() => {
    if (found)
      navigate({ to: `/${found.view}`, search: { ...found.search, project } as never, replace: true });
  }, [found, navigate, project]);
};
