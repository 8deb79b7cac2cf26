import { Popover } from '@base-ui/react/popover';
import type { PopupProps } from './popup.tsx';

/** A button that opens a small form, with the library behind it. */
export const PopupBase = ({ label, name, align = 'start', open, onOpenChange, children }: PopupProps) => (
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
