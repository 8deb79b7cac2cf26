import { lazy, type ReactNode, Suspense, useState } from 'react';

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

const Base = lazy(async () => ({ default: (await import('./menu-base.tsx')).MenuBase }));

/**
 * A button that opens a list of choices. What opens it loads once the view stands; who clicks before
 * that finds it open.
 */
export const Menu = ({ className = 'button plain', ...props }: MenuProps) => {
  const [wanted, setWanted] = useState(false);
  return (
    <Suspense
      fallback={
        <button
          type="button"
          className={className}
          aria-label={props.name}
          aria-haspopup="menu"
          onClick={() => setWanted(true)}
        >
          {props.label}
        </button>
      }
    >
      <Base className={className} {...props} wanted={wanted} />
    </Suspense>
  );
};
