import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { Menu as MenuIcon, Search } from 'lucide-react';
import { Suspense, useEffect, useState } from 'react';
import { ConnectDialog } from '../calls/connect/connect.tsx';
import { useShownName, useViewTitle, viewNames } from '../navigation/title.ts';
import { chooseSideBar, chosenSideBar, noteProject } from '../session/device.ts';
import { Button, Notice } from '../ui/controls.tsx';
import { lazily } from '../ui/lazy.ts';
import { phone, useMedia } from '../ui/media.ts';
import { Drawer } from '../ui/popups.tsx';
import { headPlace } from '../ui/view.tsx';
import { parents, places, useListSearch } from './places.ts';
import { ProjectMenu, SideBar, SideToggle } from './side-bar.tsx';

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

/** The path of the present view, which is one segment. */
const usePath = (): string =>
  useRouterState({ select: ({ location: { pathname } }) => pathname.slice(pathname.lastIndexOf('/') + 1) });

/** Where one is: the project, the list, and what of it is shown. */
const Breadcrumb = ({ project }: { project: string }) => {
  const path = usePath();
  const shown = useShownName();
  const searchFor = useListSearch(project);
  const list = parents[path] ?? (shown ? places.find(({ to }) => to === `/${path}`)?.to : undefined);
  return (
    <nav aria-label="Breadcrumb" className="crumbs">
      <ol>
        <li className="crumb-project">
          <ProjectMenu project={project} />
        </li>
        {list ? (
          <li>
            <Link to={list} search={searchFor(list)} className="crumb cut">
              {viewNames[list.slice(1)]}
            </Link>
          </li>
        ) : null}
        <li className="cut" aria-current="page" dir="auto">
          {shown ?? viewNames[path]}
        </li>
      </ol>
    </nav>
  );
};

const CommandMenu = lazily(() => import('./command-menu.tsx'), 'CommandMenu');

/** Opens the menu of commands by its button, or by `Ctrl K` from anywhere. */
const Commands = ({ project }: { project: string | undefined }) => {
  const [open, setOpen] = useState(false);
  const view = useRouterState({ select: ({ location }) => location.href });
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was chosen leads away from it
  useEffect(() => setOpen(false), [view]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      setOpen((before) => !before);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <button
        type="button"
        className="button command-button"
        aria-keyshortcuts="Control+K"
        onClick={() => setOpen(true)}
      >
        <Search /> <span>Search or jump to…</span> <kbd>Ctrl K</kbd>
      </button>
      <Suspense>{open ? <CommandMenu project={project} onClose={() => setOpen(false)} /> : null}</Suspense>
    </>
  );
};

/** Whether the side bar is wide: as somebody chose, else if there is room. */
const useSideBar = () => {
  const hasRoom = useMedia('(width >= 1200px)');
  const [chosen, setChosen] = useState(chosenSideBar);
  const isWide = chosen === undefined ? hasRoom : chosen === 'wide';
  const toggle = () => {
    const next = isWide ? 'narrow' : 'wide';
    chooseSideBar(next);
    setChosen(next);
  };
  return { isWide, toggle };
};

interface SideDrawerProps {
  readonly project: string | undefined;
  readonly onConnect: () => void;
}

/** The side bar of a phone, behind a button. */
const SideDrawer = ({ project, onConnect }: SideDrawerProps) => {
  const [open, setOpen] = useState(false);
  const view = useRouterState({ select: ({ location }) => location.href });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link in it leads away from it
  useEffect(() => setOpen(false), [view]);
  return (
    <>
      <Button kind="quiet" className="icon" aria-label="Menu" onClick={() => setOpen(true)}>
        <MenuIcon />
      </Button>
      <Drawer title="Menu" open={open} onClose={() => setOpen(false)}>
        <SideBar
          project={project}
          toggle={project ? <ProjectMenu project={project} /> : null}
          onConnect={() => {
            setOpen(false);
            onConnect();
          }}
        />
      </Drawer>
    </>
  );
};

/** What surrounds every view: the views and the project at the side, the place and the search above. */
export const Shell = () => {
  const project = useProject();
  const isCutOff = useIsCutOff();
  const isPhone = useMedia(phone);
  const { isWide, toggle } = useSideBar();
  const [connecting, setConnecting] = useState(false);
  const connect = () => setConnecting(true);
  useViewTitle(project);
  useEffect(() => {
    if (project) noteProject(project);
  }, [project]);
  return (
    <div className={isWide ? 'shell wide-side' : 'shell'}>
      <button type="button" className="skip" onClick={focusView}>
        Skip to the content
      </button>
      {isPhone ? null : (
        <aside className="side-bar" aria-label="Side bar">
          <SideBar
            project={project}
            toggle={<SideToggle isWide={isWide} onToggle={toggle} />}
            onConnect={connect}
          />
        </aside>
      )}
      <header className="head">
        {isPhone ? <SideDrawer project={project} onConnect={connect} /> : null}
        {project ? <Breadcrumb project={project} /> : <span className="crumbs">Projects</span>}
        <div id={headPlace} className="head-tools" />
        <Commands project={project} />
      </header>
      <div id="view" tabIndex={-1} className="view-place">
        {isCutOff ? <MissingView /> : <Outlet />}
      </div>
      <ConnectDialog project={project} open={connecting} onClose={() => setConnecting(false)} />
    </div>
  );
};

/** Not a link: a fragment would follow the base of the document, and leave the view. */
const focusView = (): void => document.getElementById('view')?.focus();
