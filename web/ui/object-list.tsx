import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';

interface ObjectLinkProps extends Pick<LinkProps, 'to' | 'search'> {
  readonly name: string;
  /** What stands below the name. */
  readonly about: ReactNode;
}

/** A link of a list whose objects open beside it. */
export const ObjectLink = ({ name, about, ...link }: ObjectLinkProps) => (
  <Link {...link} activeOptions={{ exact: false, includeSearch: true }} className="object-link">
    <span className="cut" dir="auto">
      {name}
    </span>
    <span className="muted">{about}</span>
  </Link>
);

/** Goes to what appears where its reader does not see it, such as below a long list. A ref of its element. */
export const goTo = (pane: HTMLElement | null): void => {
  const { top = 0 } = pane?.getBoundingClientRect() ?? {};
  if (top >= 0 && top < innerHeight / 2) return;
  pane?.scrollIntoView();
  pane?.focus({ preventScroll: true });
};
