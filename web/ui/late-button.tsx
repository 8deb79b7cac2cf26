import { type ComponentProps, type ReactNode, Suspense, useEffect, useState } from 'react';

interface LateButtonProps extends Omit<ComponentProps<'button'>, 'onClick' | 'onKeyDown'> {
  /** Loads what the button opens. It is always the same function. */
  readonly load: () => Promise<unknown>;
  /** The button with what it opens, opened. */
  readonly opened: ReactNode;
  /** Whether the arrow keys open it, as they do menus. @default false */
  readonly byArrows?: boolean;
  /** Called with the first click. */
  readonly onOpen?: () => void;
}

/**
 * A button of something that loads once the view stands. That takes the button's place with the
 * first click: a button that is replaced while it is pressed gets no click.
 */
export const LateButton = ({ load, opened, byArrows = false, onOpen, ...attributes }: LateButtonProps) => {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => void load().catch(() => {}), [load]);
  const open = () => {
    setIsOpen(true);
    onOpen?.();
  };
  const button = (
    <button
      type="button"
      aria-expanded={false}
      onClick={open}
      onKeyDown={(event) => {
        if (!byArrows || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return;
        // The keys would scroll the page, or go through its rows.
        event.preventDefault();
        open();
      }}
      {...attributes}
    />
  );
  return <Suspense fallback={button}>{isOpen ? opened : button}</Suspense>;
};
