import { createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { parseTraceSearch } from '../navigation/search.ts';
import { Logo } from '../ui/controls.tsx';
import { SharedView } from '../views/trace/shared-view.tsx';

/*
 * What opens with a public link: one view, without a session and without the frame, whose parts lead to
 * what takes a key.
 */

const root = createRootRoute();

const shared = createRoute({
  getParentRoute: () => root,
  path: '/shared',
  validateSearch: parseTraceSearch,
  component: SharedView,
});

const makeRouter = () =>
  createRouter({
    routeTree: root.addChildren([shared]),
    basepath: new URL('.', document.baseURI).pathname,
  });

/** The page for who has a public link. */
export const SharedApp = () => (
  <div className="shared-page">
    <header className="shared-brand">
      <Logo /> pennytrace
    </header>
    <RouterProvider router={makeRouter() as never} />
  </div>
);
