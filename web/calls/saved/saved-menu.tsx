import { Bookmark, ChevronDown } from 'lucide-react';
import { Suspense, useState } from 'react';
import { lazily } from '../../ui/lazy.ts';
import { Popup } from '../../ui/popups.tsx';
import type { Savable } from './saved.ts';

const SavedPanel = lazily(() => import('./saved-panel.tsx'), 'SavedPanel');

interface SavedMenuProps {
  readonly view: Savable;
  /** The state of the view, with its project. */
  readonly search: { readonly project: string };
}

/** The saved views of a project, and what saves the present one. */
export const SavedMenu = (props: SavedMenuProps) => {
  const [open, setOpen] = useState(false);
  return (
    <Popup
      label={
        <>
          <Bookmark /> Views <ChevronDown />
        </>
      }
      name="Saved views"
      align="end"
      open={open}
      onOpenChange={setOpen}
    >
      <Suspense fallback={<p className="muted">Loading…</p>}>
        <SavedPanel {...props} onDone={() => setOpen(false)} />
      </Suspense>
    </Popup>
  );
};
