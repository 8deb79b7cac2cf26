import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';

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

const load = async () => ({ default: (await import('./popup-base.tsx')).PopupBase });
const Base = lazy(load);

/**
 * A button that opens a small form. What opens it loads once the view stands, and takes the button's
 * place with the first click: a button that is replaced while it is pressed gets no click.
 */
export const Popup = (props: PopupProps) => {
  const [clicked, setClicked] = useState(false);
  useEffect(() => void load().catch(() => {}), []);
  const button = (
    <button
      type="button"
      className="button plain"
      aria-haspopup="dialog"
      aria-expanded={false}
      onClick={() => {
        setClicked(true);
        props.onOpenChange(true);
      }}
    >
      {props.label}
    </button>
  );
  return <Suspense fallback={button}>{clicked ? <Base {...props} /> : button}</Suspense>;
};
