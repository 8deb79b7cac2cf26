import { type ComponentProps, useEffect, useRef } from 'react';
import { Modal } from './popups.tsx';

/** What keys do, by `KeyboardEvent.key`. */
export type Keys = Readonly<Record<string, () => void>>;

/** The keys that go to the next of some rows, and to the one before. */
export const stepKeys = (move: (by: number) => void): Keys => ({
  j: () => move(1),
  ArrowDown: () => move(1),
  k: () => move(-1),
  ArrowUp: () => move(-1),
});

/** The place that is so many steps from another one, among so many; the first if there was none. */
export const stepped = (at: number, by: number, count: number): number =>
  Math.max(0, Math.min(count - 1, at < 0 ? 0 : at + by));

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type=checkbox], [type=radio]), textarea'));

/** A dialog or a menu has the keyboard for itself. */
const isElsewhere = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  target.closest('[role=dialog], [role=menu], [role=listbox], [role=combobox]') !== null;

/** The keys with which one goes from tab to tab, or moves a splitter. */
const goesAlong = (target: EventTarget | null, key: string): boolean =>
  /^(Arrow|Home$|End$)/.test(key) &&
  target instanceof Element &&
  target.closest('[role=tablist], [role=separator]') !== null;

/** Keys that act on whatever has the focus themselves. Enter does nothing to a checkbox outside a form. */
const acts = (target: EventTarget | null, key: string): boolean =>
  (key === 'Enter' || key === ' ') &&
  target instanceof Element &&
  target.closest('button, a, input, summary') !== null &&
  !(key === 'Enter' && target.matches('input[type=checkbox]') && target.closest('form') === null);

/** Has keys do something in a view, except while somebody types or a dialog is open. */
export const useKeys = (keys: Keys): void => {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, target, ctrlKey, metaKey, altKey } = event;
      const action = Object.hasOwn(latest.current, key) ? latest.current[key] : undefined;
      // What has the focus may have done something with the key.
      if (!action || event.defaultPrevented || ctrlKey || metaKey || altKey) return;
      if (isTyping(target) || isElsewhere(target) || acts(target, key) || goesAlong(target, key)) return;
      if (document.querySelector('[role=dialog], [data-opening]')) return;
      event.preventDefault();
      action();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
};

interface ShortcutsProps extends Pick<ComponentProps<typeof Modal>, 'open' | 'onClose'> {
  /** Keys with what they do. */
  readonly keys: readonly (readonly [string, string])[];
}

/** The keys of a view. */
export const Shortcuts = ({ open, onClose, keys }: ShortcutsProps) => (
  <Modal title="Keyboard" open={open} onClose={onClose}>
    <dl className="shortcuts">
      {keys.map(([key, text]) => (
        <div key={key}>
          <dt>
            {key.split(' ').map((part) => (
              <kbd key={part}>{part}</kbd>
            ))}
          </dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  </Modal>
);
