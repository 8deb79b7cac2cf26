import { type ComponentProps, Suspense } from 'react';
import { lazily } from '../../ui/lazy.ts';
import { Modal } from '../../ui/popups.tsx';

/** Makes rows of calls; it loads when it is first shown. */
export const AddToDataset = lazily(() => import('./add-to-dataset.tsx'), 'AddToDataset');

/** The dialog that adds to a dataset, with its form inside. */
export const AddDialog = ({
  wide = true,
  children,
  ...props
}: Omit<ComponentProps<typeof Modal>, 'title'>) => (
  <Modal title="Add to dataset" wide={wide} {...props}>
    <Suspense>{children}</Suspense>
  </Modal>
);
