import { useRouterState } from '@tanstack/react-router';
import { useEffect, useLayoutEffect } from 'react';
import { createStore, useStore } from 'zustand';

const product = 'pennytrace';

/** What each view is called, by its path. */
export const viewNames: Readonly<Record<string, string>> = {
  '': 'Projects',
  traces: 'Traces',
  trace: 'Trace',
  threads: 'Threads',
  thread: 'Thread',
  overview: 'Overview',
  compare: 'Compare',
  playground: 'Playground',
  objects: 'Objects',
  evaluations: 'Evaluations',
  evaluation: 'Evaluation',
  datasets: 'Datasets',
  evaluators: 'Evaluators',
  reviews: 'Reviews',
  alerts: 'Alerts',
  prices: 'Prices',
};

const toTitle = (...parts: readonly (string | undefined)[]): string =>
  [...parts, product].filter((part) => part).join(' · ');

/** What the URL of a view names; undefined if it names nothing. */
const nameIn = (search: object): string | undefined => {
  const { thread, object, dataset, evaluator } = search as Record<string, unknown>;
  const shown = thread ?? object ?? dataset ?? evaluator;
  return shown === undefined ? undefined : String(shown);
};

/** Has tabs, history and bookmarks tell views apart, by name, by what they show and by project. */
export const useViewTitle = (project: string | undefined): void => {
  const title = useRouterState({
    select: ({ location: { pathname, search } }) => {
      const name = viewNames[pathname.slice(pathname.lastIndexOf('/') + 1)];
      return toTitle(nameIn(search), name, project);
    },
  });
  // Before the effects of the views, which may know a better one.
  useLayoutEffect(() => {
    document.title = title;
    return () => {
      document.title = product;
    };
  }, [title]);
};

/** What the present view shows, by name; undefined while that is not known. */
const shownName = createStore<string | undefined>(() => undefined);

/** What the present view shows: what its URL names, or what it found out. */
export const useShownName = (): string | undefined => {
  const found = useStore(shownName);
  const named = useRouterState({ select: ({ location }) => nameIn(location.search) });
  return found ?? named;
};

/** Names the document and the breadcrumb after what a view shows, once that is known. */
export const useTitle = (shown: string | undefined, project: string): void => {
  useEffect(() => {
    if (!shown) return;
    document.title = toTitle(shown, project);
    shownName.setState(shown, true);
    return () => shownName.setState(undefined, true);
  }, [shown, project]);
};
