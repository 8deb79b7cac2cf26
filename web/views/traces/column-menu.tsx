import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Popup } from '../../ui/popup.tsx';
import { feedbackPath } from './request.ts';

interface ColumnMenuProps {
  readonly columns: readonly string[];
  readonly onChange: (columns: readonly string[]) => void;
}

/** Adds columns for any path, and removes them. */
export const ColumnMenu = ({ columns, onChange }: ColumnMenuProps) => {
  const [open, setOpen] = useState(false);
  const [path, setPath] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const added = path.trim();
    if (added !== '') onChange([...columns.filter((column) => column !== added), added]);
    setPath('');
  };
  return (
    <Popup label="Columns" name="Columns" align="end" open={open} onOpenChange={setOpen}>
      <form className="stack" onSubmit={submit}>
        <label className="check">
          <input
            type="checkbox"
            checked={columns.includes(feedbackPath)}
            onChange={({ target: { checked } }) =>
              onChange(checked ? [...columns, feedbackPath] : columns.filter((path) => path !== feedbackPath))
            }
          />
          <span>Feedback</span>
        </label>
        {columns
          .filter((column) => column !== feedbackPath)
          .map((column) => (
            <div key={column} className="row-between">
              <code className="cut">{column}</code>
              <Button
                kind="quiet"
                aria-label={`Remove the column ${column}`}
                onClick={() => onChange(columns.filter((other) => other !== column))}
              >
                ✕
              </Button>
            </div>
          ))}
        <label className="field">
          <span>Path of a new column</span>
          <input
            value={path}
            spellCheck={false}
            placeholder="inputs.model"
            onChange={(event) => setPath(event.target.value)}
          />
        </label>
        <Button type="submit" disabled={path.trim() === ''}>
          Add column
        </Button>
      </form>
    </Popup>
  );
};
