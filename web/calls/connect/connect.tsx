import { useRouterState } from '@tanstack/react-router';
import { Suspense, useEffect } from 'react';
import { lazily } from '../../ui/lazy.ts';
import { Modal } from '../../ui/popups.tsx';
import type { ConnectProps } from './connect-panel.tsx';

const ConnectPanel = lazily(() => import('./connect-panel.tsx'), 'ConnectPanel');

/** How to report to a project; it loads when it is first shown. */
export const Connect = (props: ConnectProps) => (
  <Suspense fallback={<p className="muted">Loading…</p>}>
    <ConnectPanel {...props} />
  </Suspense>
);

interface ConnectDialogProps {
  readonly project: string | undefined;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** The dialog that says how to report to a project. */
export const ConnectDialog = ({ project, open, onClose }: ConnectDialogProps) => {
  const view = useRouterState({ select: ({ location }) => location.href });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link in the dialog leads away from it
  useEffect(() => onClose(), [view]);
  return (
    <Modal title="Connect a program" wide open={open} onClose={onClose}>
      <Connect project={project} />
    </Modal>
  );
};
