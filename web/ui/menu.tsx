import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';

/** One choice of a menu. */
export interface MenuItem {
  readonly label: ReactNode;
  readonly onSelect: () => void;
  /** Whether it is the present choice. @default - it is a command */
  readonly checked?: boolean;
}

/** A menu. */
export interface MenuProps {
  readonly label: ReactNode;
  /** For screen readers, if the label alone does not say it. */
  readonly name?: string;
  /** @default 'button plain' */
  readonly className?: string;
  readonly items: readonly MenuItem[];
  /** What stands above the choices. */
  readonly head?: ReactNode;
}

const load = async () => ({ default: (await import('./menu-base.tsx')).MenuBase });
const Base = lazy(load);

/**
 * A button that opens a list of choices. What opens it loads once the view stands, and takes the
 * button's place with the first click: a button that is replaced while it is pressed gets no click.
 */
export const Menu = ({ className = 'button plain', ...props }: MenuProps) => {
  const [clicked, setClicked] = useState(false);
  useEffect(() => void load().catch(() => {}), []);
  const button = (
    <button
      type="button"
      className={className}
      aria-label={props.name}
      aria-haspopup="menu"
      aria-expanded={false}
      onClick={() => setClicked(true)}
      onKeyDown={({ key }) => {
        if (key === 'ArrowDown' || key === 'ArrowUp') setClicked(true);
      }}
    >
      {props.label}
    </button>
  );
  return (
    <Suspense fallback={button}>{clicked ? <Base className={className} {...props} /> : button}</Suspense>
  );
};
