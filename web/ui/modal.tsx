import { lazy, type ReactNode, Suspense } from 'react';

/** A dialog. */
export interface ModalProps {
  readonly title: string;
  readonly open: boolean;
  readonly onClose: () => void;
  /** What has the focus when it is closed. @default - what had it before */
  readonly finalFocus?: () => HTMLElement | null;
  readonly children: ReactNode;
}

const Base = lazy(async () => ({ default: (await import('./modal-base.tsx')).ModalBase }));

/** A dialog over the page. Escape and its button close it. It loads when it opens first. */
export const Modal = (props: ModalProps) => <Suspense>{props.open ? <Base {...props} /> : null}</Suspense>;
