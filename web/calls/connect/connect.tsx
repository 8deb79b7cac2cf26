import { useRouterState } from '@tanstack/react-router';
import { Plug } from 'lucide-react';
import { Suspense, useEffect, useState } from 'react';
import { Button } from '../../ui/controls.tsx';
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

/** The button of the dialog that says how to report to a project. */
export const ConnectButton = ({ project }: { project: string | undefined }) => {
  const [open, setOpen] = useState(false);
  const view = useRouterState({ select: ({ location }) => location.href });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link in the dialog leads away from it
  useEffect(() => setOpen(false), [view]);
  return (
    <>
      <Button kind="quiet" title="Connect a program" onClick={() => setOpen(true)}>
        <Plug /> <span className="side-text">Connect</span>
      </Button>
      <Modal title="Connect a program" wide open={open} onClose={() => setOpen(false)}>
        <Connect project={project} />
      </Modal>
    </>
  );
};
