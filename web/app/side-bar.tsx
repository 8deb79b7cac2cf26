import { Link, useNavigate } from '@tanstack/react-router';
import { ChevronsUpDown, PanelLeft, Plug, SunMoon, UserRound } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Wakeable } from '../api/wake.ts';
import { viewNames } from '../navigation/title.ts';
import { chooseTheme, type Theme, useTheme } from '../session/device.ts';
import { personText, useSession } from '../session/session.tsx';
import { Button, Logo } from '../ui/controls.tsx';
import { Menu } from '../ui/popups.tsx';
import { useQuiet } from '../ui/settled.ts';
import { type Place, placeGroups, useListSearch } from './places.ts';
import { useProjects } from './projects.ts';

/** For how long nothing else is read before the projects are, in ms. */
const projectsMs = 500;

/** Chooses between the projects of the key. */
export const ProjectMenu = ({ project }: { project: string }) => {
  const { data = [] } = useProjects(useQuiet(projectsMs));
  const navigate = useNavigate();
  const names = data.includes(project) ? data : [project, ...data];
  return (
    <Menu
      name={`Project ${project}`}
      className="button quiet project-menu"
      label={
        <>
          <span className="cut">{project}</span> <ChevronsUpDown />
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

export const themes: readonly (readonly [Theme, string])[] = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

const ThemeMenu = () => {
  const theme = useTheme();
  return (
    <Menu
      name="Theme"
      className="button quiet icon"
      label={<SunMoon />}
      items={themes.map(([value, label]) => ({
        label,
        checked: value === theme,
        onSelect: () => chooseTheme(value),
      }))}
    />
  );
};

const KeyMenu = () => {
  const { me, issuer, signOut } = useSession();
  const text = personText(me.user, me);
  return (
    <Menu
      name={`Signed in as ${text}`}
      className="button quiet key-menu"
      label={
        <>
          <UserRound /> <span className="cut side-text">{text}</span>
        </>
      }
      head={
        <>
          <div dir="auto">{text}</div>
          {text === me.user ? null : <div>{me.user}</div>}
          <div className="muted">
            {issuer === undefined ? `with the key ${me.key_id}` : `signed in at ${issuer}`} ·{' '}
            {me.service.name} {me.service.version}
          </div>
        </>
      }
      items={[{ label: 'Sign out', onSelect: signOut }]}
    />
  );
};

/** Has a link wake the function of its view, when somebody is about to follow it. */
const useWakes = (project: string) => {
  const { client } = useSession();
  return (operation: Wakeable) => {
    const wake = () => client.wake(operation, project);
    return { onPointerEnter: wake, onFocus: wake };
  };
};

const PlaceLink = ({ place: { to, icon: Icon, wakes }, project }: { place: Place; project: string }) => {
  const searchFor = useListSearch(project);
  const wake = useWakes(project);
  const name = viewNames[to.slice(1)];
  return (
    <Link
      to={to}
      search={searchFor(to)}
      className="place"
      title={name}
      // So that what somebody does after the click is done in the view that they chose.
      preload="intent"
      {...(wakes && wake(wakes))}
    >
      <Icon />
      <span className="side-text">{name}</span>
    </Link>
  );
};

interface SideBarProps {
  readonly project: string | undefined;
  /** What closes it, or makes it narrow. */
  readonly toggle: ReactNode;
  readonly onConnect: () => void;
}

/** The product, the views of the project in groups, and who is there. */
export const SideBar = ({ project, toggle, onConnect }: SideBarProps) => (
  <>
    <div className="side-top">
      <Link to="/" className="brand" aria-label="pennytrace: all projects">
        <Logo /> <span className="side-text">pennytrace</span>
      </Link>
      {toggle}
    </div>
    <nav aria-label="Views" className="places">
      {project
        ? placeGroups.map(({ title, places }) => (
            <div key={title} className="place-group">
              <div className="place-title">{title}</div>
              {places.map((place) => (
                <PlaceLink key={place.to} place={place} project={project} />
              ))}
            </div>
          ))
        : null}
    </nav>
    <div className="side-foot">
      <Button kind="quiet" title="Connect a program" onClick={onConnect}>
        <Plug /> <span className="side-text">Connect</span>
      </Button>
      <div className="side-row">
        <KeyMenu />
        <ThemeMenu />
      </div>
    </div>
  </>
);

interface ToggleProps {
  readonly isWide: boolean;
  readonly onToggle: () => void;
}

/** Makes the side bar narrow, or wide again. */
export const SideToggle = ({ isWide, onToggle }: ToggleProps) => (
  <Button
    kind="quiet"
    className="icon side-toggle"
    aria-label={isWide ? 'Collapse the side bar' : 'Expand the side bar'}
    aria-expanded={isWide}
    onClick={onToggle}
  >
    <PanelLeft />
  </Button>
);
