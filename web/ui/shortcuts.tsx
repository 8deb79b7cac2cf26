import { Modal } from './modal.tsx';

interface ShortcutsProps {
  readonly open: boolean;
  readonly onClose: () => void;
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
