import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  type RouterHistory,
  useRouter,
} from '@tanstack/react-router';
import { RequestFailed, wordsOf } from '../api/http.ts';
import { Button, Notice } from '../ui/controls.tsx';
import { lazily, loadFailed } from '../ui/lazy.ts';
import {
  parseCompareSearch,
  parseObjectsSearch,
  parseOverviewSearch,
  parsePlaygroundSearch,
  parsePricesSearch,
  parseThreadSearch,
  parseThreadsSearch,
  parseTraceSearch,
  parseTracesSearch,
} from '../views/search.ts';
import { HomeView } from './home.tsx';
import { MissingView, Shell } from './shell.tsx';

/** What stands where a view broke, or where it could not be loaded. */
export const FailedView = ({ error }: ErrorComponentProps) => {
  const router = useRouter();
  const tryAgain = async () => {
    await loadFailed();
    await router.invalidate();
  };
  return (
    <main className="center">
      {error instanceof RequestFailed ? (
        <Notice kind="error" action={<Button onClick={tryAgain}>Try again</Button>}>
          {error.message}
        </Notice>
      ) : (
        <Notice kind="error" action={<Button onClick={() => location.reload()}>Load the page again</Button>}>
          This view could not be shown. Check the connection: a part of the page may not have been loaded. It
          may also have been updated since it was opened. ({wordsOf(error)})
        </Notice>
      )}
    </main>
  );
};

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
  component: lazily(() => import('../views/traces/traces-view.tsx'), 'TracesView'),
});

export const traceRoute = createRoute({
  getParentRoute: () => root,
  path: '/trace',
  validateSearch: parseTraceSearch,
  component: lazily(() => import('../views/trace/trace-view.tsx'), 'TraceView'),
});

export const overviewRoute = createRoute({
  getParentRoute: () => root,
  path: '/overview',
  validateSearch: parseOverviewSearch,
  component: lazily(() => import('../views/overview/overview-view.tsx'), 'OverviewView'),
});

export const playgroundRoute = createRoute({
  getParentRoute: () => root,
  path: '/playground',
  validateSearch: parsePlaygroundSearch,
  component: lazily(() => import('../views/playground/playground-view.tsx'), 'PlaygroundView'),
});

export const pricesRoute = createRoute({
  getParentRoute: () => root,
  path: '/prices',
  validateSearch: parsePricesSearch,
  component: lazily(() => import('../views/prices/prices-view.tsx'), 'PricesView'),
});

export const objectsRoute = createRoute({
  getParentRoute: () => root,
  path: '/objects',
  validateSearch: parseObjectsSearch,
  component: lazily(() => import('../views/objects/objects-view.tsx'), 'ObjectsView'),
});

export const threadsRoute = createRoute({
  getParentRoute: () => root,
  path: '/threads',
  validateSearch: parseThreadsSearch,
  component: lazily(() => import('../views/threads/threads-view.tsx'), 'ThreadsView'),
});

export const threadRoute = createRoute({
  getParentRoute: () => root,
  path: '/thread',
  validateSearch: parseThreadSearch,
  component: lazily(() => import('../views/threads/thread-view.tsx'), 'ThreadView'),
});

export const compareRoute = createRoute({
  getParentRoute: () => root,
  path: '/compare',
  validateSearch: parseCompareSearch,
  component: lazily(() => import('../views/compare/compare-view.tsx'), 'CompareView'),
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
