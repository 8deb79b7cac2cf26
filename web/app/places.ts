import {
  Bell,
  Bot,
  Box,
  Bug,
  ChartColumn,
  ClipboardCheck,
  Database,
  FlaskConical,
  Gauge,
  Gavel,
  LayoutDashboard,
  ListTree,
  type LucideIcon,
  MessageSquareText,
  MessagesSquare,
  Settings,
  SquareTerminal,
  Wrench,
} from 'lucide-react';
import type { Wakeable } from '../api/wake.ts';
import { useKept } from '../session/kept.ts';

/** The views of a project that the navigation leads to. */
type Path =
  | '/traces'
  | '/issues'
  | '/threads'
  | '/overview'
  | '/agents'
  | '/tools'
  | '/dashboards'
  | '/alerts'
  | '/datasets'
  | '/evaluations'
  | '/scores'
  | '/evaluators'
  | '/reviews'
  | '/playground'
  | '/prompts'
  | '/objects'
  | '/settings';

export interface Place {
  readonly to: Path;
  readonly icon: LucideIcon;
  /** The function that it needs first. @default - it is not woken beforehand */
  readonly wakes?: Wakeable;
}

interface PlaceGroup {
  readonly title: string;
  readonly places: readonly Place[];
}

/** The views of a project, by what they are for. */
export const placeGroups: readonly PlaceGroup[] = [
  {
    title: 'Observe',
    places: [
      { to: '/traces', icon: ListTree },
      { to: '/issues', icon: Bug },
      { to: '/threads', icon: MessagesSquare, wakes: '/threads/stream_query' },
      { to: '/overview', icon: ChartColumn, wakes: '/calls/stats' },
      { to: '/agents', icon: Bot, wakes: '/calls/stats' },
      { to: '/tools', icon: Wrench, wakes: '/calls/stats' },
      { to: '/dashboards', icon: LayoutDashboard },
      { to: '/alerts', icon: Bell },
    ],
  },
  {
    title: 'Improve',
    places: [
      { to: '/datasets', icon: Database },
      { to: '/evaluations', icon: FlaskConical },
      { to: '/scores', icon: Gauge },
      { to: '/evaluators', icon: Gavel },
      { to: '/reviews', icon: ClipboardCheck },
    ],
  },
  {
    title: 'Build',
    places: [
      { to: '/playground', icon: SquareTerminal },
      { to: '/prompts', icon: MessageSquareText },
      { to: '/objects', icon: Box },
    ],
  },
  {
    title: 'Settings',
    places: [{ to: '/settings', icon: Settings }],
  },
];

/** The views of a project. */
export const places: readonly Place[] = placeGroups.flatMap((group) => group.places);

/** The list that a view of one thing belongs to, by the path of that view. */
export const parents: Readonly<Record<string, Path>> = {
  trace: '/traces',
  call: '/traces',
  compare: '/traces',
  thread: '/threads',
  evaluation: '/evaluations',
  evaluate: '/evaluations',
};

type ListSearch = Readonly<Record<string, unknown>> & { readonly project: string };

/** The state in which each list was left, which its link leads back to. */
export const useListSearch = (project: string): ((to: Path) => ListSearch) => {
  const [traces] = useKept<ListSearch>('kept list', project, { project });
  const [threads] = useKept<ListSearch>('kept threads', project, { project });
  return (to) => (to === '/traces' ? traces : to === '/threads' ? threads : { project });
};
