import { createRootRoute, createRoute, createRouter, type RouterHistory } from '@tanstack/react-router';
import { parseCompareSearch } from '../views/compare/search.ts';
import { parseObjectsSearch } from '../views/objects/search.ts';
import { parseOverviewSearch } from '../views/overview/search.ts';
import { parsePlaygroundSearch } from '../views/playground/search.ts';
import { parsePricesSearch } from '../views/prices/search.ts';
import { parseThreadSearch } from '../views/thread/search.ts';
import { parseThreadsSearch } from '../views/threads/search.ts';
import { parseTraceSearch } from '../views/trace/search.ts';
import { parseTracesSearch } from '../views/traces/search.ts';
import { FailedView } from './failed-view.tsx';
import { HomeView } from './home-view.tsx';
import { MissingView } from './missing-view.tsx';
import { Shell } from './shell.tsx';
import { viewOf } from './view-of.ts';

/*
 * Every view has a path of one segment, and all of its state in the query. So the base of the
 * document is always `./`, below any path, and ids need no escaping that a gateway could undo.
 */

const root = createRootRoute({ component: Shell, notFoundComponent: MissingView });

const home = createRoute({ getParentRoute: () => root, path: '/', component: HomeView });

export const tracesRoute = createRoute({
  getParentRoute: () => root,
  path: '/traces',
  validateSearch: parseTracesSearch,
  component: viewOf(() => import('../views/traces/traces-view.tsx'), 'TracesView'),
});

export const traceRoute = createRoute({
  getParentRoute: () => root,
  path: '/trace',
  validateSearch: parseTraceSearch,
  component: viewOf(() => import('../views/trace/trace-view.tsx'), 'TraceView'),
});

export const overviewRoute = createRoute({
  getParentRoute: () => root,
  path: '/overview',
  validateSearch: parseOverviewSearch,
  component: viewOf(() => import('../views/overview/overview-view.tsx'), 'OverviewView'),
});

export const playgroundRoute = createRoute({
  getParentRoute: () => root,
  path: '/playground',
  validateSearch: parsePlaygroundSearch,
  component: viewOf(() => import('../views/playground/playground-view.tsx'), 'PlaygroundView'),
});

export const pricesRoute = createRoute({
  getParentRoute: () => root,
  path: '/prices',
  validateSearch: parsePricesSearch,
  component: viewOf(() => import('../views/prices/prices-view.tsx'), 'PricesView'),
});

export const objectsRoute = createRoute({
  getParentRoute: () => root,
  path: '/objects',
  validateSearch: parseObjectsSearch,
  component: viewOf(() => import('../views/objects/objects-view.tsx'), 'ObjectsView'),
});

export const threadsRoute = createRoute({
  getParentRoute: () => root,
  path: '/threads',
  validateSearch: parseThreadsSearch,
  component: viewOf(() => import('../views/threads/threads-view.tsx'), 'ThreadsView'),
});

export const threadRoute = createRoute({
  getParentRoute: () => root,
  path: '/thread',
  validateSearch: parseThreadSearch,
  component: viewOf(() => import('../views/thread/thread-view.tsx'), 'ThreadView'),
});

export const compareRoute = createRoute({
  getParentRoute: () => root,
  path: '/compare',
  validateSearch: parseCompareSearch,
  component: viewOf(() => import('../views/compare/compare-view.tsx'), 'CompareView'),
});

/** Makes the router, below the path that the document came from. */
export const makeRouter = (history?: RouterHistory) =>
  createRouter({
    routeTree: root.addChildren([
      home,
      tracesRoute,
      traceRoute,
      overviewRoute,
      threadsRoute,
      threadRoute,
      compareRoute,
      playgroundRoute,
      pricesRoute,
      objectsRoute,
    ]),
    defaultErrorComponent: FailedView,
    basepath: new URL('.', document.baseURI).pathname,
    ...(history && { history }),
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
