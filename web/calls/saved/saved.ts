import { useNavigate, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { dashboardClass } from '../../../api/shared/classes.ts';
import type { ObjectVersion } from '../../api/contract.ts';
import { isObject } from '../../data/values.ts';
import { useRead } from '../../session/session.tsx';
import { byName, readObjects } from '../../session/stored.ts';

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
export const savedClass = 'SavedView';

const parseSaved = (id: string, value: unknown): SavedView[] => {
  if (!isObject(value) || typeof value.name !== 'string' || !isObject(value.search)) return [];
  const view = savable.find((known) => known === value.view);
  if (!view) return [];
  return [{ id, name: value.name, view, search: value.search, isDefault: value.is_default === true }];
};

/** What a project opens with: a saved view or a dashboard. */
interface Start {
  readonly id: string;
  /** The value of the object. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly to: string;
  readonly search: Readonly<Record<string, unknown>>;
}

const toStart = ({ object_id: id, val: value }: ObjectVersion): Start[] => {
  if (!isObject(value)) return [];
  if (value._type === dashboardClass)
    return value.is_start === true ? [{ id, value, to: '/dashboards', search: { dashboard: id } }] : [];
  return parseSaved(id, value).flatMap(({ view, search, isDefault }) =>
    isDefault ? [{ id, value, to: `/${view}`, search }] : [],
  );
};

/** The saved views and dashboards of a project, as far as they are opened from elsewhere. */
export const useSaved = (project: string, enabled: boolean) =>
  useRead(
    ['saved views', project],
    async (reading) => {
      const filter = { base_object_classes: [savedClass, dashboardClass], latest_only: true };
      const objects = await readObjects(reading, project, { filter });
      return {
        views: byName(
          objects.flatMap(({ object_id, val }) =>
            isObject(val) && val._type === savedClass ? parseSaved(object_id, val) : [],
          ),
        ),
        starts: objects.flatMap(toStart),
      };
    },
    { enabled },
  );

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
  const { data } = useSaved(project, enters);
  const found = enters ? data?.starts[0] : undefined;
  useEffect(() => {
    if (found) navigate({ to: found.to, search: { ...found.search, project } as never, replace: true });
  }, [found, navigate, project]);
};
