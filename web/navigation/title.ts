import { useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { createStore, useStore } from 'zustand';
import type { SettingsSection } from './search.ts';

const product = 'pennytrace';

/** What each view is called, by its path. */
export const viewNames: Readonly<Record<string, string>> = {
  '': 'Projects',
  traces: 'Traces',
  trace: 'Trace',
  issues: 'Issues',
  threads: 'Threads',
  thread: 'Thread',
  overview: 'Overview',
  agents: 'Agents',
  tools: 'Tools',
  dashboards: 'Dashboards',
  compare: 'Compare',
  playground: 'Playground',
  prompts: 'Prompts',
  objects: 'Objects',
  evaluations: 'Evaluations',
  evaluation: 'Evaluation',
  evaluate: 'New evaluation',
  datasets: 'Datasets',
  evaluators: 'Evaluators',
  scores: 'Scores',
  reviews: 'Reviews',
  alerts: 'Alerts',
  settings: 'Settings',
  prices: 'Prices',
};

/** What each section of the settings is called. */
export const sectionNames: Readonly<Record<SettingsSection, string>> = {
  general: 'General',
  members: 'Members',
  keys: 'Keys',
  limits: 'Spending limits',
  retention: 'Retention',
  redaction: 'Redaction',
  webhooks: 'Webhooks',
  prices: 'Prices',
  audit: 'Audit',
  delete: 'Delete project',
};

const toTitle = (...parts: readonly (string | undefined)[]): string =>
  [...parts, product].filter((part) => part).join(' · ');

/** What the URL of a view names; undefined if it names nothing. */
const nameIn = (search: object): string | undefined => {
  const { thread, object, dataset, evaluator } = search as Record<string, unknown>;
  const shown = thread ?? object ?? dataset ?? evaluator;
  return shown === undefined ? undefined : String(shown);
};

/** What the present view shows, by name; undefined while that is not known. */
const shownName = createStore<string | undefined>(() => undefined);

/** What the present view shows: what it found out, or what its URL names. */
export const useShownName = (): string | undefined => {
  const found = useStore(shownName);
  const named = useRouterState({ select: ({ location }) => nameIn(location.search) });
  return found ?? named;
};

/** Names the breadcrumb and the document after what a view shows, once that is known. */
export const useTitle = (shown: string | undefined): void => {
  useEffect(() => {
    if (!shown) return;
    shownName.setState(shown, true);
    return () => shownName.setState(undefined, true);
  }, [shown]);
};

/** Has tabs, history and bookmarks tell views apart, by what they show, by name and by project. */
export const useViewTitle = (project: string | undefined): void => {
  const found = useStore(shownName);
  const title = useRouterState({
    select: ({ location: { pathname, search } }) => {
      const name = viewNames[pathname.slice(pathname.lastIndexOf('/') + 1)];
      // What a view found out says by itself what it is.
      return found === undefined ? toTitle(nameIn(search), name, project) : toTitle(found, project);
    },
  });
  useEffect(() => {
    document.title = title;
    return () => {
      document.title = product;
    };
  }, [title]);
};
