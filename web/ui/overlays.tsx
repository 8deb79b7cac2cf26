import { Dialog } from '@base-ui/react/dialog';
import { Menu } from '@base-ui/react/menu';
import { Popover } from '@base-ui/react/popover';
import type { ReactNode } from 'react';

/* What opens over the page, with the library behind it. `popups.tsx` loads it when it is needed. */

/** One choice of a menu. */
interface MenuItem {
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

/** A button that opens a list of choices, open at first. */
export const OpenMenu = ({ label, name, className, items, head }: MenuProps) => (
  <Menu.Root modal={false} defaultOpen>
    <Menu.Trigger className={className} aria-label={name}>
      {label}
    </Menu.Trigger>
    <Menu.Portal>
      <Menu.Positioner className="positioner" sideOffset={4} align="start">
        <Menu.Popup className="menu">
          {head ? <div className="menu-head">{head}</div> : null}
          {items.map(({ label: text, onSelect, checked }, at) =>
            checked === undefined ? (
              <Menu.Item key={at} className="menu-item" onClick={onSelect}>
                {text}
              </Menu.Item>
            ) : (
              <Menu.CheckboxItem
                key={at}
                className="menu-item"
                checked={checked}
                onCheckedChange={onSelect}
                closeOnClick
              >
                <span className="tick" aria-hidden="true">
                  {checked ? '✓' : ''}
                </span>
                {text}
              </Menu.CheckboxItem>
            ),
          )}
        </Menu.Popup>
      </Menu.Positioner>
    </Menu.Portal>
  </Menu.Root>
);

export interface PopupProps {
  /** What its button says. */
  readonly label: ReactNode;
  /** What it is, for screen readers. */
  readonly name: string;
  /** @default 'start' */
  readonly align?: 'start' | 'end';
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly children: ReactNode;
}

/** A button that opens a small form. */
export const OpenPopup = ({ label, name, align = 'start', open, onOpenChange, children }: PopupProps) => (
  <Popover.Root open={open} onOpenChange={onOpenChange}>
    <Popover.Trigger className="button plain">{label}</Popover.Trigger>
    <Popover.Portal>
      <Popover.Positioner className="positioner" sideOffset={4} align={align}>
        <Popover.Popup className="popover" aria-label={name}>
          {children}
        </Popover.Popup>
      </Popover.Positioner>
    </Popover.Portal>
  </Popover.Root>
);

export interface ModalProps {
  readonly title: string;
  readonly open: boolean;
  readonly onClose: () => void;
  /** Whether it takes the room that there is. @default false */
  readonly wide?: boolean;
  /** What has the focus when it is closed. @default - what had it before */
  readonly finalFocus?: () => HTMLElement | null;
  readonly children: ReactNode;
}

/** A dialog. */
export const OpenModal = ({ title, open, onClose, wide, finalFocus, children }: ModalProps) => (
  <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
    <Dialog.Portal>
      <Dialog.Backdrop className="backdrop" />
      <Dialog.Popup className={wide ? 'modal wide-modal' : 'modal'} {...(finalFocus && { finalFocus })}>
        <div className="modal-head">
          <Dialog.Title className="modal-title">{title}</Dialog.Title>
          <Dialog.Close className="button quiet" aria-label="Close">
            ✕
          </Dialog.Close>
        </div>
        {children}
      </Dialog.Popup>
    </Dialog.Portal>
  </Dialog.Root>
);
