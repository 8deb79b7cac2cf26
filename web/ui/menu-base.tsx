import { Menu as Base } from '@base-ui/react/menu';
import type { MenuProps } from './menu.tsx';

/** A button that opens a list of choices, open at first, with the library behind it. */
export const MenuBase = ({ label, name, className, items, head }: MenuProps) => (
  <Base.Root modal={false} defaultOpen>
    <Base.Trigger className={className} aria-label={name}>
      {label}
    </Base.Trigger>
    <Base.Portal>
      <Base.Positioner className="positioner" sideOffset={4} align="start">
        <Base.Popup className="menu">
          {head ? <div className="menu-head">{head}</div> : null}
          {items.map(({ label: text, onSelect, checked }, at) =>
            checked === undefined ? (
              <Base.Item key={at} className="menu-item" onClick={onSelect}>
                {text}
              </Base.Item>
            ) : (
              <Base.CheckboxItem
                key={at}
                className="menu-item"
                checked={checked}
                onCheckedChange={onSelect}
                closeOnClick
              >
                <span className="tick" aria-hidden="true">
                  {checked ? '✓' : ''}
                </span>
                {text}
              </Base.CheckboxItem>
            ),
          )}
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
);
