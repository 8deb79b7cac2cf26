import { Toast } from '@base-ui/react/toast';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';

/** For how long a toast stays, in ms; longer while the pointer or the focus is on it. */
const shownMs = 10_000;

const List = () =>
  Toast.useToastManager().toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className="toast">
      <Toast.Content className="toast-content">
        <Toast.Title className="toast-title" />
        <Toast.Action className="button plain" />
        <Toast.Close className="button quiet icon" aria-label="Close">
          <X />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));

/** Has room for toasts: what was just done, with what takes it back. */
export const Toasts = ({ children }: { children: ReactNode }) => (
  <Toast.Provider timeout={shownMs} limit={1}>
    {children}
    <Toast.Portal>
      <Toast.Viewport className="toasts">
        <List />
      </Toast.Viewport>
    </Toast.Portal>
  </Toast.Provider>
);

/** Says what was done, and takes it back by a click. Inside of {@link Toasts}. */
export const useToast = () => {
  const { add, close } = Toast.useToastManager();
  return (title: string, action: string, onAction: () => unknown): void => {
    const id = add({
      title,
      actionProps: {
        children: action,
        onClick: () => {
          close(id);
          onAction();
        },
      },
    });
  };
};
