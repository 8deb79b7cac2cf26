import { Autocomplete } from '@base-ui/react/autocomplete';
import { Combobox } from '@base-ui/react/combobox';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { Dialog } from '@base-ui/react/dialog';
import { Menu } from '@base-ui/react/menu';
import { Popover } from '@base-ui/react/popover';
import { Select } from '@base-ui/react/select';
import { Check, ChevronDown, X } from 'lucide-react';
import { type ComponentProps, type ReactNode, useRef, useState } from 'react';
import { findText, type Option, toPair } from './options.ts';

/* What opens over the page, with the library behind it. `popups.tsx` loads it when it is needed. */

/** One choice of a menu. */
interface MenuItem {
  readonly label: ReactNode;
  readonly onSelect: () => void;
  /** Whether it is the present choice. @default - it is a command */
  readonly checked?: boolean;
  /** Whether it cannot be chosen; its label says why. @default false */
  readonly disabled?: boolean;
}

export interface MenuProps {
  readonly label: ReactNode;
  /** For screen readers, if the label alone does not say it. */
  readonly name?: string;
  /** @default 'button plain' */
  readonly className?: string;
  readonly items: readonly MenuItem[];
  /** What stands above the choices. */
  readonly head?: ReactNode;
}

/** A button that opens a list of choices, open at first. */
export const OpenMenu = ({ label, name, className, items, head }: MenuProps) => (
  <Menu.Root modal={false} defaultOpen>
    <Menu.Trigger className={className} aria-label={name}>
      {label}
    </Menu.Trigger>
    <Menu.Portal>
      <Menu.Positioner className="positioner" sideOffset={4} align="start">
        <Menu.Popup className="menu">
          {head ? <div className="menu-head">{head}</div> : null}
          {items.map(({ label: text, onSelect, checked, disabled = false }, at) =>
            checked === undefined ? (
              <Menu.Item key={at} className="menu-item" disabled={disabled} onClick={onSelect}>
                {text}
              </Menu.Item>
            ) : (
              <Menu.CheckboxItem
                key={at}
                className="menu-item"
                disabled={disabled}
                checked={checked}
                onCheckedChange={onSelect}
                closeOnClick
              >
                <span className="tick" aria-hidden="true">
                  {checked ? <Check /> : null}
                </span>
                {text}
              </Menu.CheckboxItem>
            ),
          )}
        </Menu.Popup>
      </Menu.Positioner>
    </Menu.Portal>
  </Menu.Root>
);

export interface PopupProps {
  /** What its button says. */
  readonly label: ReactNode;
  /** What it is, for screen readers. */
  readonly name: string;
  /** @default 'start' */
  readonly align?: 'start' | 'end';
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly children: ReactNode;
}

/** A button that opens a small form. */
export const OpenPopup = ({ label, name, align = 'start', open, onOpenChange, children }: PopupProps) => (
  <Popover.Root open={open} onOpenChange={onOpenChange}>
    <Popover.Trigger className="button plain">{label}</Popover.Trigger>
    <Popover.Portal>
      <Popover.Positioner className="positioner" sideOffset={4} align={align}>
        <Popover.Popup className="popover" aria-label={name}>
          {children}
        </Popover.Popup>
      </Popover.Positioner>
    </Popover.Portal>
  </Popover.Root>
);

export interface ModalProps {
  readonly title: string;
  readonly open: boolean;
  readonly onClose: () => void;
  /** Whether it takes the room that there is. @default false */
  readonly wide?: boolean;
  /** What has the focus when it is closed. @default - what had it before */
  readonly finalFocus?: () => HTMLElement | null;
  readonly children: ReactNode;
}

/** What somebody fills in or presses in a dialog. */
const firstControl =
  'input:not([type=hidden]), textarea, [role=combobox], [role=radiogroup], button, a[href], [tabindex="0"]';

/** A dialog. Its first field or button has the focus, and not the cross that closes it. */
export const OpenModal = ({ title, open, onClose, wide, finalFocus, children }: ModalProps) => {
  const popup = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup
          ref={popup}
          className={wide ? 'modal wide-modal' : 'modal'}
          initialFocus={() => body.current?.querySelector<HTMLElement>(firstControl) ?? popup.current}
          {...(finalFocus && { finalFocus })}
        >
          <div className="modal-head">
            <Dialog.Title className="modal-title">{title}</Dialog.Title>
            <Dialog.Close className="button quiet icon" aria-label="Close">
              <X />
            </Dialog.Close>
          </div>
          <div className="modal-body" ref={body}>
            {children}
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
};

/** A panel that comes in from the side. */
export const OpenDrawer = ({ title, open, onClose, children }: ModalProps) => (
  <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
    <Dialog.Portal>
      <Dialog.Backdrop className="backdrop" />
      <Dialog.Popup className="side-bar drawer" aria-label={title}>
        {children}
      </Dialog.Popup>
    </Dialog.Portal>
  </Dialog.Root>
);

export interface SelectProps<Value extends string> {
  readonly id?: string | undefined;
  /** What is chosen, for screen readers, if no label says so. */
  readonly label?: string | undefined;
  /** The id of its label. */
  readonly labelledBy?: string | undefined;
  readonly value: Value;
  readonly options: readonly Option<Value>[];
  readonly onChange: (value: Value) => void;
  /** Whether it takes no more room than it needs. @default false */
  readonly fit?: boolean | undefined;
  readonly disabled?: boolean | undefined;
}

/** A choice of one of some values, open at first. */
export const OpenSelect = (props: SelectProps<string>) => {
  const { id, label, labelledBy, value, options, onChange, fit, disabled } = props;
  return (
    // The page's policy stops styles within the document.
    <CSPProvider disableStyleElements>
      <Select.Root
        defaultOpen
        modal={false}
        value={value}
        disabled={disabled}
        onValueChange={(next) => typeof next === 'string' && onChange(next)}
      >
        <Select.Trigger
          id={id}
          className={fit ? 'picker fit' : 'picker'}
          aria-label={label}
          aria-labelledby={labelledBy}
        >
          <span className="cut">{findText(props)}</span> <ChevronDown />
        </Select.Trigger>
        <Select.Portal>
          <Select.Positioner className="positioner" sideOffset={4} align="start" alignItemWithTrigger={false}>
            <Select.Popup className="menu select-menu" aria-label={label} aria-labelledby={labelledBy}>
              {options.map(toPair).map(([optionValue, text]) => (
                <Select.Item key={optionValue} value={optionValue} className="menu-item">
                  <span className="tick">
                    <Select.ItemIndicator>
                      <Check />
                    </Select.ItemIndicator>
                  </span>
                  <Select.ItemText>{text}</Select.ItemText>
                </Select.Item>
              ))}
            </Select.Popup>
          </Select.Positioner>
        </Select.Portal>
      </Select.Root>
    </CSPProvider>
  );
};

export interface SuggestProps extends Omit<ComponentProps<'input'>, 'value' | 'onChange' | 'list'> {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** What one may mean, with what it is called if that is something else. Anything may be typed. */
  readonly suggestions: readonly Option<string>[];
}

/** A text that one types, with suggestions below it. */
export const SuggestInput = (props: SuggestProps) => {
  const { value, onChange, suggestions, ...attributes } = props;
  const [isOpen, setOpen] = useState(false);
  const typed = value.trim();
  const wanted = typed.toLowerCase();
  const pairs = suggestions.map(toPair);
  // What stands there needs no suggestion, and the list would cover what comes next.
  const isWhole = pairs.some(([known]) => known === typed);
  const items = isWhole
    ? []
    : pairs.filter((pair) => pair.some((text) => text.toLowerCase().includes(wanted))).slice(0, 50);
  return (
    <Autocomplete.Root
      items={items}
      filter={null}
      openOnInputClick
      // A list without anything in it would hide the rest of a dialog from screen readers.
      open={isOpen && items.length > 0}
      onOpenChange={setOpen}
      value={value}
      onValueChange={onChange}
      itemToStringValue={([known]: readonly [string, string]) => known}
    >
      {/* A list that had nothing to show is still asked for, and would open once it has. */}
      <Autocomplete.Input {...attributes} onBlur={() => setOpen(false)} />
      <Autocomplete.Portal>
        <Autocomplete.Positioner className="positioner" sideOffset={4} align="start">
          <Autocomplete.Popup className="menu select-menu">
            <Autocomplete.List>
              {(pair: readonly [string, string]) => (
                <Autocomplete.Item key={pair[0]} value={pair} className="menu-item suggestion">
                  <span className="cut">{pair[0]}</span>
                  {pair[1] === pair[0] ? null : <span className="muted">{pair[1]}</span>}
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Popup>
        </Autocomplete.Positioner>
      </Autocomplete.Portal>
    </Autocomplete.Root>
  );
};

export interface PickerProps {
  readonly id: string;
  /** The ids of its label and its help, for screen readers. */
  readonly labelledBy: string;
  readonly describedBy?: string | undefined;
  readonly placeholder?: string | undefined;
  /** What is chosen, each once. */
  readonly values: readonly string[];
  readonly onChange: (values: readonly string[]) => void;
  /** What one may mean. Anything else may be typed. */
  readonly suggestions: readonly string[];
  /** Whether commas stand between values, and in none. @default true */
  readonly commas?: boolean | undefined;
}

/** The texts that stand between separators, each once. */
const listed = (text: string, separator: RegExp): string[] => [
  ...new Set(
    text
      .split(separator)
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  ),
];

/** Texts that one chooses or types, one after the other. Each stands in the field, with a cross that takes it out. */
export const PickInput = (props: PickerProps) => {
  const { id, labelledBy, describedBy, placeholder, values, onChange, suggestions, commas = true } = props;
  const separator = commas ? /[,\n]/ : /\n/;
  const [typed, setTyped] = useState('');
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const wanted = typed.trim();
  const known = suggestions.filter((text) => text.toLowerCase().includes(wanted.toLowerCase())).slice(0, 50);
  const items = wanted === '' || suggestions.includes(wanted) ? known : [...known, wanted];
  const add = (text: string) => {
    const more = listed(text, separator).filter((value) => !values.includes(value));
    if (more.length > 0) onChange([...values, ...more]);
    setTyped('');
  };
  return (
    <Combobox.Root
      multiple
      autoHighlight
      items={items}
      filter={null}
      // A list without anything in it would hide the rest of the page from screen readers.
      open={isOpen && items.length > 0}
      onOpenChange={setOpen}
      value={[...values]}
      onValueChange={(next) => {
        onChange(next);
        setTyped('');
      }}
      inputValue={typed}
      // What is between commas is meant, as in a text.
      onInputValueChange={(next) => (separator.test(next) ? add(next) : setTyped(next))}
    >
      <Combobox.Chips className="picks" ref={box}>
        {values.map((value) => (
          <Combobox.Chip key={value} className="pick" aria-label={value}>
            <span className="cut" dir="auto">
              {value}
            </span>
            <Combobox.ChipRemove className="pick-remove" aria-label={`Remove ${value}`}>
              <X />
            </Combobox.ChipRemove>
          </Combobox.Chip>
        ))}
        <Combobox.Input
          id={id}
          aria-labelledby={labelledBy}
          aria-describedby={describedBy}
          placeholder={values.length === 0 ? placeholder : undefined}
          spellCheck={false}
          onBlur={() => {
            setOpen(false);
            add(typed);
          }}
        />
      </Combobox.Chips>
      <Combobox.Portal>
        <Combobox.Positioner className="positioner" sideOffset={4} align="start" anchor={box}>
          <Combobox.Popup className="menu select-menu">
            <Combobox.List>
              {(item: string) => (
                <Combobox.Item key={item} value={item} className="menu-item">
                  <span className="tick">
                    <Combobox.ItemIndicator>
                      <Check />
                    </Combobox.ItemIndicator>
                  </span>
                  <span className="cut" dir="auto">
                    {suggestions.includes(item) ? item : `Add “${item}”`}
                  </span>
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
};
