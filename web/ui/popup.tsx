import { lazy, type ReactNode, Suspense } from 'react';

/** A popup. */
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

const Base = lazy(async () => ({ default: (await import('./popup-base.tsx')).PopupBase }));

/** A button that opens a small form. What opens it loads once the view stands. */
export const Popup = (props: PopupProps) => (
  <Suspense
    fallback={
      <button
        type="button"
        className="button plain"
        aria-haspopup="dialog"
        onClick={() => props.onOpenChange(true)}
      >
        {props.label}
      </button>
    }
  >
    <Base {...props} />
  </Suspense>
);
