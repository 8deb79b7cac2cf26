import { type ReactNode, useEffect, useState } from 'react';
import { createPortal } from 'react-dom';

/** The id of the place in the page's head that the view fills. */
export const headPlace = 'head-tools';

/** What a view puts into the page's head: the time that it looks at. */
export const HeadTools = ({ children }: { children: ReactNode }) => {
  // The head is there before any view, but not while the first is rendered together with it.
  const [place, setPlace] = useState(() => document.getElementById(headPlace));
  useEffect(() => setPlace(document.getElementById(headPlace)), []);
  return place ? createPortal(children, place) : null;
};

interface ViewProps {
  /** What the view is called, or what it shows. */
  readonly title: ReactNode;
  /** Beside the title: how many there are, in what state. @default - nothing */
  readonly about?: ReactNode;
  /** What can be done here, the most likely last. @default - nothing */
  readonly actions?: ReactNode;
  /** One row that chooses what is shown. @default - none */
  readonly toolbar?: ReactNode;
  /** Whether it is read or filled in rather than scanned: lines are no longer than one reads. @default false */
  readonly narrow?: boolean;
  /** Whether it is as high as the window, and its parts scroll. @default false */
  readonly fixed?: boolean;
  readonly className?: string;
  readonly children?: ReactNode;
}

/** A view: a row with its title, one with its tools, and its content. */
export const View = (props: ViewProps) => {
  const { title, about, actions, toolbar, narrow = false, fixed = false, className = '', children } = props;
  return (
    <main className={`view ${narrow ? 'narrow' : ''} ${fixed ? 'fixed' : ''} ${className}`}>
      <div className="view-head">
        <h1 dir="auto">{title}</h1>
        {about ? <div className="view-about">{about}</div> : null}
        {actions ? <div className="view-actions">{actions}</div> : null}
      </div>
      {toolbar ? <div className="toolbar">{toolbar}</div> : null}
      {children}
    </main>
  );
};
