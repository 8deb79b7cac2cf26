import { lazy, type ReactNode } from 'react';
import { LateButton } from './late-button.tsx';

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

const load = async () => ({ default: (await import('./popup-base.tsx')).PopupBase });
const Base = lazy(load);

/** A button that opens a small form. */
export const Popup = (props: PopupProps) => (
  <LateButton
    load={load}
    opened={<Base {...props} />}
    onOpen={() => props.onOpenChange(true)}
    className="button plain"
    aria-haspopup="dialog"
  >
    {props.label}
  </LateButton>
);
