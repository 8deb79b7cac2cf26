import { ArrowDown, ArrowUp, Minus, Plus, X } from 'lucide-react';
import { useRef, useState } from 'react';
import type { CallsQuery } from '../../api/contract.ts';
import { useScorePaths } from '../../calls/figures/tags.ts';
import type { SearchMenuProps } from '../../calls/filters/sort-menu.tsx';
import { changedPlaces, movedPlaces, toPlaces } from '../../calls/list/layout.ts';
import { feedbackPath } from '../../calls/list/request.ts';
import { tagsColumn } from '../../calls/scores.ts';
import { Button, Check, CopyButton } from '../../ui/controls.tsx';
import { Form, Input } from '../../ui/fields.tsx';
import { Modal } from '../../ui/popups.tsx';
import { makeColumns } from './columns.tsx';

interface QueryDialogProps {
  readonly request: CallsQuery;
  /** Whether the page filters the rows itself, by their cost. */
  readonly filtered: boolean;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Shows the request behind the list, in the words of the query language. */
export const QueryDialog = ({ request, filtered, open, onClose }: QueryDialogProps) => {
  const text = JSON.stringify(request, null, 2);
  return (
    <Modal title="The query of this list" open={open} onClose={onClose}>
      <p className="muted">
        <code>POST /calls/stream_query</code>{' '}
        {filtered
          ? 'returns these calls and more: the page itself filters by cost.'
          : 'returns exactly these calls.'}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keyboard */}
      <pre className="code" tabIndex={0}>
        {text}
      </pre>
      <div className="row-end">
        <CopyButton text={() => text}>Copy</CopyButton>
        <Button kind="primary" onClick={onClose}>
          Close
        </Button>
      </div>
    </Modal>
  );
};

/** How much wider or narrower a column becomes with a click, in pixels. */
const widthStep = 40;

/** Shows, hides, moves and widens columns, and adds columns for any path. */
export const ColumnForm = ({ search, onChange }: SearchMenuProps) => {
  const [path, setPath] = useState('');
  const form = useRef<HTMLFormElement>(null);
  const { columns: paths = [], layout } = search;
  const columns = makeColumns(search);
  const places = toPlaces(
    layout,
    columns.map(({ id }) => id),
  );
  const further = [[feedbackPath, 'All feedback'], [tagsColumn, 'Tags'], ...useScorePaths(search)] as const;
  const setPaths = (next: readonly string[]) => onChange({ columns: next.length > 0 ? next : undefined });
  /** The width that a column has on the screen. */
  const getWidth = (id: string): number =>
    [...document.querySelectorAll<HTMLElement>('.table-head .cell')].find(
      ({ dataset }) => dataset.column === id,
    )?.offsetWidth ?? 120;
  const submit = () => {
    const added = path.trim();
    if (added !== '') setPaths([...paths.filter((column) => column !== added), added]);
    setPath('');
  };
  return (
    <Form className="stack" onSubmit={submit} ref={form}>
      <ul className="column-list">
        {places.map(({ id, hidden, width }, at) => {
          const title = columns.find((column) => column.id === id)?.title ?? id;
          const set = (next: readonly string[]) => onChange({ layout: next });
          const widen = (by: number) =>
            set(changedPlaces(places, id, { width: (width ?? getWidth(id)) + by }));
          return (
            <li key={id} className="row-between">
              <Check
                label={title}
                checked={!hidden}
                onChange={(shown) => set(changedPlaces(places, id, { hidden: !shown }))}
              />
              <span className="column-tools">
                <Button
                  kind="quiet"
                  aria-label={`Narrower: ${title}`}
                  idle={hidden}
                  onClick={() => widen(-widthStep)}
                >
                  <Minus />
                </Button>
                <Button
                  kind="quiet"
                  aria-label={`Wider: ${title}`}
                  idle={hidden}
                  onClick={() => widen(widthStep)}
                >
                  <Plus />
                </Button>
                <Button
                  kind="quiet"
                  aria-label={`Move up: ${title}`}
                  idle={at === 0}
                  onClick={() => set(movedPlaces(places, id, -1))}
                >
                  <ArrowUp />
                </Button>
                <Button
                  kind="quiet"
                  aria-label={`Move down: ${title}`}
                  idle={at === places.length - 1}
                  onClick={() => set(movedPlaces(places, id, 1))}
                >
                  <ArrowDown />
                </Button>
                {paths.includes(id) ? (
                  <Button
                    kind="quiet"
                    aria-label={`Remove the column ${title}`}
                    onClick={() => setPaths(paths.filter((other) => other !== id))}
                  >
                    <X />
                  </Button>
                ) : null}
              </span>
            </li>
          );
        })}
      </ul>
      <fieldset className="column-choices">
        <legend>Feedback and scores</legend>
        {further
          .filter(([id]) => !columns.some((column) => column.id === id))
          .map(([id, title]) => (
            <Check key={id} label={title} checked={false} onChange={() => setPaths([...paths, id])} />
          ))}
        {further.every(([id]) => columns.some((column) => column.id === id)) ? (
          <span className="muted">All of it is shown.</span>
        ) : null}
      </fieldset>
      <Input label="Path of a new column" placeholder="inputs.model" value={path} onChange={setPath} />
      <div className="row-between">
        <Button type="submit" disabled={path.trim() === ''}>
          Add column
        </Button>
        {layout || paths.length > 0 ? (
          <Button kind="quiet" onClick={() => onChange({ layout: undefined, columns: undefined })}>
            Reset
          </Button>
        ) : null}
      </div>
      <p className="hint">
        A column that is empty in all rows is not shown. This device keeps what you choose.
      </p>
    </Form>
  );
};
