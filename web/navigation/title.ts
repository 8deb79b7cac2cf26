import { useRouterState } from '@tanstack/react-router';
import { useEffect, useLayoutEffect } from 'react';

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

/** Has tabs, history and bookmarks tell views apart, by name, by what they show and by project. */
export const useViewTitle = (project: string | undefined): void => {
  const title = useRouterState({
    select: ({ location: { pathname, search } }) => {
      const { thread, object, dataset, evaluator } = search as Record<string, unknown>;
      const shown = thread ?? object ?? dataset ?? evaluator;
      const name = viewNames[pathname.slice(pathname.lastIndexOf('/') + 1)];
      return toTitle(shown === undefined ? undefined : String(shown), name, project);
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

/** Names the document after what a view shows, once that is known. */
export const useTitle = (shown: string | undefined, project: string): void => {
  useEffect(() => {
    if (shown) document.title = toTitle(shown, project);
  }, [shown, project]);
};
