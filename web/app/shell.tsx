import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Wakeable } from '../api/wake.ts';
import { ConnectButton } from '../calls/connect/connect.tsx';
import { useViewTitle, viewNames } from '../navigation/title.ts';
import { chooseTheme, chosenTheme, noteProject, type Theme } from '../session/device.ts';
import { useKept } from '../session/kept.ts';
import { useSession } from '../session/session.tsx';
import { Logo, Notice } from '../ui/controls.tsx';
import { Menu } from '../ui/popups.tsx';
import { useProjects } from './home.tsx';

/** What stands at a path that no view has. */
export const MissingView = () => (
  <main className="center">
    <Notice kind="error" action={<Link to="/">Your projects</Link>}>
      There is nothing at this address. The link may be incomplete.
    </Notice>
  </main>
);

/** The project of the present view; undefined in the list of projects. */
const useProject = (): string | undefined =>
  useRouterState({
    select: ({ location }) => (location.search as { project?: string }).project || undefined,
  });

/** Whether the link to a view of a project names none. */
const useIsCutOff = (): boolean =>
  useRouterState({
    select: ({ matches }) => {
      const search: { project?: string } = matches.at(-1)?.search ?? {};
      return 'project' in search && !search.project;
    },
  });

const ProjectMenu = ({ project }: { project: string }) => {
  const { data = [] } = useProjects();
  const navigate = useNavigate();
  const names = data.includes(project) ? data : [project, ...data];
  return (
    <Menu
      name={`Project ${project}`}
      className="button quiet project-menu"
      label={
        <>
          <span className="cut">{project}</span> <span aria-hidden="true">▾</span>
        </>
      }
      items={names.map((name) => ({
        label: name,
        checked: name === project,
        onSelect: () => navigate({ to: '/traces', search: { project: name }, state: { enter: true } }),
      }))}
    />
  );
};

const themes: readonly (readonly [Theme, string])[] = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

const ThemeMenu = () => {
  const [theme, setTheme] = useState(chosenTheme);
  return (
    <Menu
      name="Theme"
      className="button quiet"
      label={<span aria-hidden="true">◐</span>}
      items={themes.map(([value, label]) => ({
        label,
        checked: value === theme,
        onSelect: () => {
          chooseTheme(value);
          setTheme(value);
        },
      }))}
    />
  );
};

const KeyMenu = () => {
  const { me, signOut } = useSession();
  return (
    <Menu
      name={`Signed in as ${me.user}`}
      className="button quiet"
      label={<span className="cut">{me.user}</span>}
      head={
        <>
          <div>{me.user}</div>
          <div className="muted">
            key {me.key_id} · {me.service.name} {me.service.version}
          </div>
        </>
      }
      items={[{ label: 'Sign out', onSelect: signOut }]}
    />
  );
};

/** Has a link wake the function of its view, when somebody is about to follow it. */
const useWakes = (project: string | undefined) => {
  const { client } = useSession();
  return (operation: Wakeable) => {
    const wake = () => project && client.wake(operation, project);
    return { onPointerEnter: wake, onFocus: wake };
  };
};

/**
 * How many links of the navigation fit into its one line. The others wrap, out of sight, and a menu has
 * them.
 */
const useFitting = () => {
  const nav = useRef<HTMLElement>(null);
  const [fitting, setFitting] = useState<number>(links.length);
  useLayoutEffect(() => {
    if (!nav.current) return;
    const measure = () => {
      const tops = [...(nav.current?.children ?? [])].map((link) => (link as HTMLElement).offsetTop);
      setFitting(tops.filter((top) => top === tops[0]).length || links.length);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(nav.current);
    return () => observer.disconnect();
  }, []);
  return { nav, fitting };
};

/** The views of a project, with the function that each needs first. */
const links = [
  ['/traces', undefined],
  ['/threads', '/threads/stream_query'],
  ['/overview', '/calls/stats'],
  ['/datasets', undefined],
  ['/evaluations', undefined],
  ['/evaluators', undefined],
  ['/reviews', undefined],
  ['/alerts', undefined],
  ['/playground', undefined],
  ['/objects', undefined],
  ['/prices', undefined],
] as const;

/** The state in which each list was left, which its link leads back to. */
const useListSearch = (project: string): Readonly<Record<string, { readonly project: string }>> => {
  const [traces] = useKept('kept list', project, { project });
  const [threads] = useKept('kept threads', project, { project });
  return { '/traces': traces, '/threads': threads };
};

/** The views for which the navigation has no room. Its label is the present one, if that is among them. */
const MoreViews = ({ project, views }: { project: string; views: readonly (typeof links)[number][] }) => {
  const navigate = useNavigate();
  const lists = useListSearch(project);
  const present = useRouterState({ select: ({ location }) => location.pathname });
  const chosen = views.find(([to]) => present.endsWith(to))?.[0];
  return (
    <Menu
      name={chosen ? `${viewNames[chosen.slice(1)]}, and more views` : 'More views'}
      className={chosen ? 'view-link more-views chosen' : 'view-link more-views'}
      label={
        <>
          {chosen ? viewNames[chosen.slice(1)] : 'More'} <span aria-hidden="true">▾</span>
        </>
      }
      items={views.map(([to]) => ({
        label: viewNames[to.slice(1)],
        checked: to === chosen,
        onSelect: () => navigate({ to, search: lists[to] ?? { project } }),
      }))}
    />
  );
};

/** What surrounds every view: the project, the views, the theme and the key. */
export const Shell = () => {
  const project = useProject();
  const wakes = useWakes(project);
  const { nav, fitting } = useFitting();
  const isCutOff = useIsCutOff();
  const lists = useListSearch(project ?? '');
  useViewTitle(project);
  useEffect(() => {
    if (project) noteProject(project);
  }, [project]);
  return (
    <div className="shell">
      <button type="button" className="skip" onClick={focusView}>
        Skip to the content
      </button>
      <header className="bar">
        <Link to="/" className="brand" aria-label="pennytrace: all projects">
          <Logo /> <span className="brand-name">pennytrace</span>
        </Link>
        {project ? <ProjectMenu project={project} /> : null}
        <nav aria-label="Views" className="views" ref={nav}>
          {project
            ? links.map(([to, wanted], at) => (
                <Link
                  key={to}
                  to={to}
                  search={lists[to] ?? { project }}
                  className={at < fitting ? 'view-link' : 'view-link wrapped'}
                  // So that what somebody does after the click is done in the view that they chose.
                  preload="intent"
                  {...(wanted && wakes(wanted))}
                >
                  {viewNames[to.slice(1)]}
                </Link>
              ))
            : null}
        </nav>
        {project && fitting < links.length ? (
          <MoreViews project={project} views={links.slice(fitting)} />
        ) : null}
        <span className="spring" />
        <ConnectButton project={project} />
        <ThemeMenu />
        <KeyMenu />
      </header>
      <div id="view" tabIndex={-1} className="view">
        {isCutOff ? <MissingView /> : <Outlet />}
      </div>
    </div>
  );
};

/** Not a link: a fragment would follow the base of the document, and leave the view. */
const focusView = (): void => document.getElementById('view')?.focus();
