import { lazy, type ReactNode } from 'react';
import { LateButton } from './late-button.tsx';

/** One choice of a menu. */
export interface MenuItem {
  readonly label: ReactNode;
  readonly onSelect: () => void;
  /** Whether it is the present choice. @default - it is a command */
  readonly checked?: boolean;
}

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

/** A button that opens a list of choices. */
export const Menu = ({ className = 'button plain', ...props }: MenuProps) => (
  <LateButton
    load={load}
    opened={<Base className={className} {...props} />}
    byArrows
    className={className}
    aria-label={props.name}
    aria-haspopup="menu"
  >
    {props.label}
  </LateButton>
);
