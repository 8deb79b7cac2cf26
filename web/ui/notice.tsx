import type { ReactNode } from 'react';

interface NoticeProps {
  readonly kind: 'error' | 'info';
  readonly children: ReactNode;
  /** What to do about it. */
  readonly action?: ReactNode;
}

/** Says what happened, and what to do. Errors are announced to screen readers at once. */
export const Notice = ({ kind, children, action }: NoticeProps) => (
  <div className={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
    <div>{children}</div>
    {action}
  </div>
);
