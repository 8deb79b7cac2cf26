import { useNavigate, useRouter, useRouterState } from '@tanstack/react-router';
import {
  type CSSProperties,
  type MouseEvent,
  type ReactNode,
  Suspense,
  useEffect,
  useRef,
  useState,
} from 'react';
import { type Changes, changed } from '../../navigation/search.ts';
import { chooseListShare, chosenListShare } from '../../session/device.ts';
import { lazily } from '../../ui/lazy.ts';

const Splitter = lazily(() => import('../../ui/splitter.tsx'), 'Splitter');

/* What a list opens beside itself. The URL has it, and a step back closes it. */

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Whether a step back closes what is beside the list. */
    peeked?: boolean;
  }
}

/**
 * Opens something beside a list, goes on to other things, and closes it.
 *
 * @param path the view of the list
 * @param pane what shows it; it loads before it opens, since React keeps a placeholder for 300 ms at least
 * @param giveFocus called once it is closed: the focus goes back to the list
 */
export const usePeekSteps = <State extends object>(
  path: '/traces' | '/threads',
  isOpen: boolean,
  pane: { readonly preload?: () => Promise<void> | undefined },
  giveFocus: () => void,
) => {
  const navigate = useNavigate();
  const { history } = useRouter();
  const isStep = useRouterState({ select: ({ location }) => location.state.peeked === true });
  // Which state it is follows from the path, which the types of the router do not tell.
  const search = (changes: Changes<State>) => (before: object) => changed<State>(before, changes) as never;
  const go = (changes: Changes<State>, replace: boolean, peeked: boolean) =>
    navigate({
      to: path,
      search: search(changes),
      replace,
      state: (before) => (peeked ? { ...before, peeked: true } : before),
    });
  const wasOpen = useRef(isOpen);
  const focus = useRef(giveFocus);
  focus.current = giveFocus;
  useEffect(() => {
    if (wasOpen.current && !isOpen) focus.current();
    wasOpen.current = isOpen;
  }, [isOpen]);
  return {
    /** Opens something, or goes on to it. */
    show: async (changes: Changes<State>) => {
      // What could not be loaded says so in its place.
      if (!wasOpen.current) await pane.preload?.()?.catch(() => undefined);
      // Of two clicks in that time, the second goes on: one step back closes it.
      const goesOn = wasOpen.current;
      wasOpen.current = true;
      return go(changes, goesOn, !goesOn);
    },
    /** Changes what is shown of it. */
    change: (changes: Changes<State>) => go(changes, true, false),
    /** @param changes what the URL of a closed one has */
    close: (changes: Changes<State>) => {
      if (isStep) history.back();
      else navigate({ to: path, search: search(changes), replace: true });
    },
  };
};

/** Whether a click on a link is not meant for another tab or window. */
export const isPlainClick = ({ ctrlKey, metaKey, shiftKey, altKey }: MouseEvent): boolean =>
  !ctrlKey && !metaKey && !shiftKey && !altKey;

interface PeekPlaceProps {
  /** What is beside the list. @default - nothing */
  readonly pane: ReactNode;
  /** What it is called, until it is there. */
  readonly label: string;
  readonly children: ReactNode;
}

/** A list, and the place beside it, as wide as somebody made it on this device. */
export const PeekPlace = ({ pane, label, children }: PeekPlaceProps) => {
  const [share, setShare] = useState(chosenListShare);
  const divide = (next: number) => {
    setShare(next);
    chooseListShare(next);
  };
  return (
    <div
      className={pane ? 'list-body split' : 'list-body'}
      style={{ '--share': `${share}%`, '--part': share / 100 } as CSSProperties}
    >
      <div className="list-place">{children}</div>
      {pane ? (
        <>
          {/* What is beside the list keeps its column until the splitter is there. */}
          <Suspense fallback={<div className="splitter" />}>
            <Splitter label="Width of the list" share={share} onShare={divide} />
          </Suspense>
          <Suspense fallback={<aside className="peek" aria-label={label} />}>{pane}</Suspense>
        </>
      ) : null}
    </div>
  );
};
