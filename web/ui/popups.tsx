import { ChevronDown } from 'lucide-react';
import { type ComponentProps, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { errorText } from '../api/http.ts';
import { whenQuiet } from '../api/quiet.ts';
import { Button, Notice } from './controls.tsx';
import { lazily } from './lazy.ts';
import { findText } from './options.ts';
import type {
  MenuProps,
  ModalProps,
  PickerProps,
  PopupProps,
  SelectProps,
  SuggestProps,
} from './overlays.tsx';

const load = () => import('./overlays.tsx');
const OpenMenu = lazily(load, 'OpenMenu');
const OpenPopup = lazily(load, 'OpenPopup');
const OpenModal = lazily(load, 'OpenModal');
const OpenDrawer = lazily(load, 'OpenDrawer');
const OpenSelect = lazily(load, 'OpenSelect');
const SuggestInput = lazily(load, 'SuggestInput');
const PickInput = lazily(load, 'PickInput');

/** For how long a view reads nothing before what its buttons open is loaded, in ms. */
const preloadMs = 1000;

interface OpenerProps extends Omit<ComponentProps<'button'>, 'onClick' | 'onKeyDown'> {
  /** Loads what the button opens. */
  readonly preload: () => void;
  /** The button with what it opens, opened. */
  readonly opened: ReactNode;
  /** Whether the arrow keys open it, as they do menus. @default false */
  readonly byArrows?: boolean;
  /** Called with the first click. */
  readonly onOpen?: () => void;
}

/**
 * The button of a menu or a popup. What it opens loads once the view stands, and takes the button's
 * place with the first click: a button that is replaced while it is pressed gets no click.
 */
const Opener = ({ preload, opened, byArrows = false, onOpen, ...attributes }: OpenerProps) => {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    // What the view shows comes first.
    return whenQuiet(preloadMs, preload);
  }, [preload]);
  const open = () => {
    preload();
    setIsOpen(true);
    onOpen?.();
  };
  const button = (
    <button
      type="button"
      aria-expanded={false}
      // What is typed until it stands is meant for it, and not for the rows behind.
      data-opening={isOpen || undefined}
      onClick={open}
      onPointerEnter={preload}
      onFocus={preload}
      onKeyDown={(event) => {
        if (!byArrows || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return;
        // The keys would scroll the page, or go through its rows.
        event.preventDefault();
        open();
      }}
      {...attributes}
    />
  );
  return <Suspense fallback={button}>{isOpen ? opened : button}</Suspense>;
};

const preloadMenu = () => void OpenMenu.preload?.();
const preloadPopup = () => void OpenPopup.preload?.();

/** A button that opens a list of choices. */
export const Menu = ({ className = 'button plain', ...props }: MenuProps) => (
  <Opener
    preload={preloadMenu}
    opened={<OpenMenu className={className} {...props} />}
    byArrows
    className={className}
    aria-label={props.name}
    aria-haspopup="menu"
  >
    {props.label}
  </Opener>
);

const preloadSelect = () => void OpenSelect.preload?.();

/** A choice of one of some values. */
export const Select = <Value extends string>(props: SelectProps<Value>) => (
  <Opener
    preload={preloadSelect}
    // What is loaded later knows values as texts, as the options have them.
    opened={<OpenSelect {...(props as unknown as SelectProps<string>)} />}
    byArrows
    role="combobox"
    className={props.fit ? 'picker fit' : 'picker'}
    id={props.id}
    aria-label={props.label}
    aria-labelledby={props.labelledBy}
    aria-haspopup="listbox"
    disabled={props.disabled}
  >
    <span className="cut">{findText(props)}</span> <ChevronDown />
  </Opener>
);

/** A text that one types, with suggestions. It is a field like others until they are loaded. */
export const Suggest = (props: SuggestProps) => {
  const hasFocus = useRef(false);
  const { suggestions: _, onChange, ...attributes } = props;
  useEffect(() => void SuggestInput.preload?.(), []);
  const plain = (
    <input
      {...attributes}
      onChange={({ target }) => onChange(target.value)}
      onFocus={() => {
        hasFocus.current = true;
      }}
      onBlur={() => {
        hasFocus.current = false;
      }}
    />
  );
  return (
    <Suspense fallback={plain}>
      <SuggestInput {...props} autoFocus={hasFocus.current || props.autoFocus} />
    </Suspense>
  );
};

/** Texts that one chooses or types. It is a field like others until it is loaded. */
export const PickSeveral = (props: PickerProps) => (
  <Suspense
    fallback={
      <div className="picks">
        {props.values.map((value) => (
          <span key={value} className="pick">
            <span className="cut">{value}</span>
          </span>
        ))}
        <input id={props.id} aria-labelledby={props.labelledBy} readOnly />
      </div>
    }
  >
    <PickInput {...props} />
  </Suspense>
);

/** A button that opens a small form. */
export const Popup = (props: PopupProps) => (
  <Opener
    preload={preloadPopup}
    opened={<OpenPopup {...props} />}
    onOpen={() => props.onOpenChange(true)}
    className="button plain"
    aria-haspopup="dialog"
  >
    {props.label}
  </Opener>
);

/** A dialog over the page. Escape and its button close it. */
export const Modal = (props: ModalProps) => (
  <Suspense>{props.open ? <OpenModal {...props} /> : null}</Suspense>
);

/** A panel that comes in from the side, on a phone. */
export const Drawer = (props: ModalProps) => (
  <Suspense>{props.open ? <OpenDrawer {...props} /> : null}</Suspense>
);

interface ConfirmProps extends Omit<ModalProps, 'wide'> {
  /** What the button says that does it. */
  readonly action: string;
  readonly onConfirm: () => unknown;
  /** Whether it is being done. @default false */
  readonly idle?: boolean;
  /** Why it failed last. @default - it did not */
  readonly error?: unknown;
}

/** Asks before something is done away with. Its children say what becomes of it. */
export const Confirm = ({ action, onConfirm, idle = false, error, children, ...props }: ConfirmProps) => (
  <Modal {...props}>
    <p>{children}</p>
    {error ? <Notice kind="error">{errorText(error)}</Notice> : null}
    <div className="row-end">
      <Button onClick={props.onClose}>Cancel</Button>
      <Button kind="primary" idle={idle} onClick={onConfirm}>
        {action}
      </Button>
    </div>
  </Modal>
);
