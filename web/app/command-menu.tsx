import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useNavigate } from '@tanstack/react-router';
import { ArrowRight, FolderOpen, LogOut, type LucideIcon, Search, Settings, SunMoon } from 'lucide-react';
import { useState } from 'react';
import { settingsSections } from '../navigation/search.ts';
import { sectionNames, viewNames } from '../navigation/title.ts';
import { chooseTheme } from '../session/device.ts';
import { useSession } from '../session/session.tsx';
import { places, useListSearch } from './places.ts';
import { useProjects } from './projects.ts';
import { themes } from './side-bar.tsx';

interface Command {
  readonly text: string;
  readonly icon: LucideIcon;
  readonly run: () => unknown;
}

interface CommandGroup {
  readonly title: string;
  readonly items: readonly Command[];
}

/** Ids have digits, and no spaces: words of a search rarely do. */
const isId = (text: string): boolean => /^(?=.*\d)[\w.:-]{6,}$/.test(text);

/** What was typed as a command: an id to open, a text to search for. */
const useTyped = (project: string | undefined) => {
  const navigate = useNavigate();
  return (typed: string): CommandGroup[] => {
    if (project === undefined || typed === '') return [];
    const open: Command[] = isId(typed)
      ? [
          {
            text: `Open the trace ${typed}`,
            icon: ArrowRight,
            run: () => navigate({ to: '/trace', search: { project, trace: typed } }),
          },
          {
            text: `Open the call ${typed}`,
            icon: ArrowRight,
            run: () => navigate({ to: '/call', search: { project, call: typed } }),
          },
          {
            text: `Open the thread ${typed}`,
            icon: ArrowRight,
            run: () => navigate({ to: '/thread', search: { project, thread: typed } }),
          },
        ]
      : [];
    const search: Command = {
      text: `Search all calls for “${typed}”`,
      icon: Search,
      run: () => navigate({ to: '/traces', search: { project, text: typed } }),
    };
    return [{ title: 'What you typed', items: [...open, search] }];
  };
};

/** The views of the project, the projects, and what can be done from everywhere. */
const useCommands = (project: string | undefined): CommandGroup[] => {
  const navigate = useNavigate();
  const { data: projects = [] } = useProjects();
  const { signOut } = useSession();
  const searchFor = useListSearch(project ?? '');
  const views: Command[] = places.map(({ to, icon }) => ({
    text: viewNames[to.slice(1)] ?? to,
    icon,
    run: () => navigate({ to, search: searchFor(to) }),
  }));
  const sections: Command[] = settingsSections.map((section) => ({
    text: sectionNames[section],
    icon: Settings,
    run: () => navigate({ to: '/settings', search: { project: project ?? '', section } }),
  }));
  return [
    { title: 'Views', items: project === undefined ? [] : views },
    { title: 'Settings', items: project === undefined ? [] : sections },
    {
      title: 'Projects',
      items: projects
        .filter((name) => name !== project)
        .map((name) => ({
          text: name,
          icon: FolderOpen,
          run: () => navigate({ to: '/traces', search: { project: name }, state: { enter: true } }),
        })),
    },
    {
      title: 'Actions',
      items: [
        ...themes.map(([theme, text]) => ({
          text: `Theme: ${text.toLowerCase()}`,
          icon: SunMoon,
          run: () => chooseTheme(theme),
        })),
        { text: 'Sign out', icon: LogOut, run: signOut },
      ],
    },
  ];
};

interface CommandMenuProps {
  readonly project: string | undefined;
  readonly onClose: () => void;
}

/** Leads anywhere by a few letters. */
export const CommandMenu = ({ project, onClose }: CommandMenuProps) => {
  const [typed, setTyped] = useState('');
  const wanted = typed.trim().toLowerCase();
  const groups = [
    ...useCommands(project).map(({ title, items }) => ({
      title,
      items: items.filter(({ text }) => text.toLowerCase().includes(wanted)),
    })),
    ...useTyped(project)(typed.trim()),
  ].filter(({ items }) => items.length > 0);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="command-menu" aria-label="Commands">
          <Autocomplete.Root
            open
            inline
            items={groups}
            filter={null}
            value={typed}
            onValueChange={(value, { reason }) => reason !== 'item-press' && setTyped(value)}
            itemToStringValue={({ text }: Command) => text}
            autoHighlight="always"
            keepHighlight
          >
            <div className="command-field">
              <Search />
              <Autocomplete.Input
                aria-label="Search or jump to"
                placeholder="A view, a project, an id, or words to search for"
              />
            </div>
            <Autocomplete.Empty className="command-empty">Nothing is called that.</Autocomplete.Empty>
            <Autocomplete.List className="command-list">
              {(group: CommandGroup) => (
                <Autocomplete.Group key={group.title} items={group.items}>
                  <Autocomplete.GroupLabel className="place-title">{group.title}</Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(command: Command) => (
                      <Autocomplete.Item
                        key={command.text}
                        value={command}
                        className="menu-item"
                        onClick={() => {
                          onClose();
                          command.run();
                        }}
                      >
                        <command.icon /> <span className="cut">{command.text}</span>
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
};
