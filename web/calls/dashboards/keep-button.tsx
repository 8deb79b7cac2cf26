import { LayoutDashboard } from 'lucide-react';
import { Suspense, useState } from 'react';
import { useAllowed } from '../../session/session.tsx';
import { IconButton } from '../../ui/controls.tsx';
import { lazily } from '../../ui/lazy.ts';
import { Modal } from '../../ui/popups.tsx';
import type { ShownChart } from './dashboard.ts';

const KeepForm = lazily(() => import('./keep-form.tsx'), 'KeepForm');

interface KeepButtonProps {
  readonly project: string;
  readonly chart: ShownChart;
  /** What the chart is called. */
  readonly title: string;
}

/** Keeps a chart on a dashboard, for those whose key may write. */
export const KeepButton = ({ project, chart, title }: KeepButtonProps) => {
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  if (!useAllowed(project, 'write')) return null;
  return (
    <>
      <IconButton
        icon={LayoutDashboard}
        name={`Keep ${title} on a dashboard`}
        onClick={() => setOpen(true)}
      />
      <Modal title="Keep on a dashboard" open={open} onClose={close}>
        <Suspense fallback={<p className="muted">Loading…</p>}>
          <KeepForm project={project} chart={chart} title={title} onDone={close} />
        </Suspense>
      </Modal>
    </>
  );
};
