import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  type RouteComponent,
  type RouterHistory,
  useRouter,
} from '@tanstack/react-router';
import { errorText, RequestFailed } from '../api/http.ts';
import type { TracePaneType } from '../calls/trace/trace-state.ts';
import {
  parseAgentsSearch,
  parseAlertsSearch,
  parseCallSearch,
  parseCompareSearch,
  parseDashboardsSearch,
  parseDatasetsSearch,
  parseEvaluateSearch,
  parseEvaluationSearch,
  parseEvaluationsSearch,
  parseEvaluatorsSearch,
  parseIssuesSearch,
  parseObjectsSearch,
  parseOverviewSearch,
  parsePlaygroundSearch,
  parsePricesSearch,
  parsePromptsSearch,
  parseReviewsSearch,
  parseScoresSearch,
  parseSettingsSearch,
  parseThreadSearch,
  parseThreadsSearch,
  parseToolsSearch,
  parseTraceSearch,
  parseTracesSearch,
  type TracesSearch,
} from '../navigation/search.ts';
import { keptColumns } from '../session/device.ts';
import { Button, Notice } from '../ui/controls.tsx';
import { lazily, loadFailed } from '../ui/lazy.ts';
import { TracesView } from '../views/traces/traces-view.tsx';
import { MissingView, Shell } from './shell.tsx';

/** What stands where a view broke, or where it could not be loaded. */
const FailedView = ({ error }: ErrorComponentProps) => {
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
          may also have been updated since it was opened. ({errorText(error)})
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

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazily(() => import('./home.tsx'), 'HomeView'),
});

/** A view of a project, with what reads its state from the URL. */
const view = <const Path extends string, Search, Component extends RouteComponent>(
  path: Path,
  validateSearch: (search: Record<string, unknown>) => Search,
  component: Component,
) => createRoute({ getParentRoute: () => root, path, validateSearch, component });

/** All but the list of traces, which most visits begin with. */
const load = {
  call: lazily(() => import('../views/trace/call-view.tsx'), 'CallView'),
  trace: lazily(() => import('../views/trace/trace-view.tsx'), 'TraceView'),
  issues: lazily(() => import('../views/issues/issues-view.tsx'), 'IssuesView'),
  threads: lazily(() => import('../views/threads/threads-view.tsx'), 'ThreadsView'),
  thread: lazily(() => import('../views/threads/thread-view.tsx'), 'ThreadView'),
  overview: lazily(() => import('../views/overview/overview-view.tsx'), 'OverviewView'),
  agents: lazily(() => import('../views/agents/agents-view.tsx'), 'AgentsView'),
  tools: lazily(() => import('../views/agents/tools-view.tsx'), 'ToolsView'),
  dashboards: lazily(() => import('../views/dashboards/dashboards-view.tsx'), 'DashboardsView'),
  scores: lazily(() => import('../views/scores/scores-view.tsx'), 'ScoresView'),
  compare: lazily(() => import('../views/compare/compare-view.tsx'), 'CompareView'),
  playground: lazily(() => import('../views/playground/playground-view.tsx'), 'PlaygroundView'),
  prompts: lazily(() => import('../views/prompts/prompts-view.tsx'), 'PromptsView'),
  objects: lazily(() => import('../views/objects/objects-view.tsx'), 'ObjectsView'),
  evaluations: lazily(() => import('../views/evaluations/evaluations-view.tsx'), 'EvaluationsView'),
  evaluation: lazily(() => import('../views/evaluations/evaluation-view.tsx'), 'EvaluationView'),
  evaluate: lazily(() => import('../views/evaluations/evaluate-view.tsx'), 'EvaluateView'),
  datasets: lazily(() => import('../views/datasets/datasets-view.tsx'), 'DatasetsView'),
  evaluators: lazily(() => import('../views/evaluators/evaluators-view.tsx'), 'EvaluatorsView'),
  reviews: lazily(() => import('../views/reviews/reviews-view.tsx'), 'ReviewsView'),
  alerts: lazily(() => import('../views/alerts/alerts-view.tsx'), 'AlertsView'),
  settings: lazily(() => import('../views/settings/settings-view.tsx'), 'SettingsView'),
  prices: lazily(() => import('../views/settings/settings-view.tsx'), 'PricesRedirect'),
};

/** What the list of traces opens beside itself. It comes in the same file as the view of a trace. */
const TracePane: TracePaneType = lazily(() => import('../views/trace/trace-view.tsx'), 'TracePane');

const TracesWithPane = () => <TracesView Pane={TracePane} />;

const ThreadsWithPane = Object.assign(() => <load.threads Pane={TracePane} />, {
  preload: () => load.threads.preload?.(),
});

/** The state of the list, with the columns of this device if the URL names none. */
const tracesSearch = (search: Record<string, unknown>): TracesSearch => {
  const asked = parseTracesSearch(search);
  return asked.columns || asked.layout ? asked : { ...asked, ...keptColumns(asked.project) };
};

/** Makes the router, below the path that the document came from. */
export const makeRouter = (history?: RouterHistory) =>
  createRouter({
    routeTree: root.addChildren([
      home,
      view('/traces', tracesSearch, TracesWithPane),
      view('/call', parseCallSearch, load.call),
      view('/trace', parseTraceSearch, load.trace),
      view('/issues', parseIssuesSearch, load.issues),
      view('/threads', parseThreadsSearch, ThreadsWithPane),
      view('/thread', parseThreadSearch, load.thread),
      view('/overview', parseOverviewSearch, load.overview),
      view('/agents', parseAgentsSearch, load.agents),
      view('/tools', parseToolsSearch, load.tools),
      view('/dashboards', parseDashboardsSearch, load.dashboards),
      view('/scores', parseScoresSearch, load.scores),
      view('/compare', parseCompareSearch, load.compare),
      view('/playground', parsePlaygroundSearch, load.playground),
      view('/prompts', parsePromptsSearch, load.prompts),
      view('/objects', parseObjectsSearch, load.objects),
      view('/evaluations', parseEvaluationsSearch, load.evaluations),
      view('/evaluation', parseEvaluationSearch, load.evaluation),
      view('/evaluate', parseEvaluateSearch, load.evaluate),
      view('/datasets', parseDatasetsSearch, load.datasets),
      view('/evaluators', parseEvaluatorsSearch, load.evaluators),
      view('/reviews', parseReviewsSearch, load.reviews),
      view('/alerts', parseAlertsSearch, load.alerts),
      view('/settings', parseSettingsSearch, load.settings),
      view('/prices', parsePricesSearch, load.prices),
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
