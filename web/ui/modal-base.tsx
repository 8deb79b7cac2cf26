import { Dialog } from '@base-ui/react/dialog';
import type { ModalProps } from './modal.tsx';

/** A dialog, with the library behind it. */
export const ModalBase = ({ title, open, onClose, finalFocus, children }: ModalProps) => (
  <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
    <Dialog.Portal>
      <Dialog.Backdrop className="backdrop" />
      <Dialog.Popup className="modal" {...(finalFocus && { finalFocus })}>
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
