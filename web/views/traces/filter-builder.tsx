import { type FormEvent, useId, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Popup } from '../../ui/popup.tsx';
import { type Condition, costOperators, costPath, needsValue, type Operator, operators } from './search.ts';

/** What people filter by most, with the operator that they most likely mean. */
const suggestions: readonly { path: string; text: string; op: Operator }[] = [
  { path: 'op_name', text: 'Operation', op: 'contains' },
  { path: 'display_name', text: 'Display name', op: 'contains' },
  { path: 'inputs.model', text: 'Model', op: 'contains' },
  { path: 'svc_user_id', text: 'User', op: 'is' },
  { path: 'thread_id', text: 'Thread', op: 'is' },
  { path: 'summary.svc.latency_ms', text: 'Latency in ms', op: 'above' },
  { path: costPath, text: 'Cost', op: 'above' },
  { path: 'exception', text: 'Exception', op: 'contains' },
  { path: 'inputs', text: 'Inputs', op: 'contains' },
  { path: 'output', text: 'Output', op: 'contains' },
  { path: 'attributes', text: 'Attributes', op: 'contains' },
];

/** The words for a path. */
export const pathText = (path: string): string =>
  suggestions.find((suggestion) => suggestion.path === path)?.text ?? path;

/** A condition in words. */
export const conditionText = ({ path, op, value }: Condition): string =>
  needsValue(op) ? `${pathText(path)} ${op} ${value}` : `${pathText(path)} ${op}`;

const ConditionForm = ({ onAdd }: { onAdd: (condition: Condition) => void }) => {
  const [path, setPath] = useState('op_name');
  const [op, setOp] = useState<Operator>('contains');
  const [value, setValue] = useState('');
  const list = useId();
  const ofCost = path.trim() === costPath;
  const choosePath = (next: string) => {
    setPath(next);
    const suggested = suggestions.find((suggestion) => suggestion.path === next);
    if (suggested) setOp(suggested.op);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onAdd({ path: path.trim(), op, value: needsValue(op) ? value : '' });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <label className="field">
        <span>Column or path</span>
        <input
          list={list}
          value={path}
          required
          spellCheck={false}
          onChange={(e) => choosePath(e.target.value)}
        />
        <datalist id={list}>
          {suggestions.map((suggestion) => (
            <option key={suggestion.path} value={suggestion.path}>
              {suggestion.text}
            </option>
          ))}
        </datalist>
      </label>
      <label className="field">
        <span>Operator</span>
        <select value={op} onChange={(event) => setOp(event.target.value as Operator)}>
          {(ofCost ? costOperators : operators).map((operator) => (
            <option key={operator}>{operator}</option>
          ))}
        </select>
      </label>
      {needsValue(op) ? (
        <label className="field">
          <span>Value</span>
          <input
            value={value}
            spellCheck={false}
            {...(ofCost && { type: 'number', step: 'any', required: true })}
            onChange={(event) => setValue(event.target.value)}
          />
        </label>
      ) : null}
      {ofCost ? (
        <p className="hint">
          The cost that a row shows: of a root, that of its whole trace. It follows from prices, so the page
          reads the rows that pass the other filters and looks up each. Choose a time first.
        </p>
      ) : (
        <p className="hint">
          A path goes into a column: <code>inputs.messages.0.role</code>. A value that is a number, true,
          false or null is meant as such; put it into quotes to mean a text.
        </p>
      )}
      <Button kind="primary" type="submit" disabled={path.trim() === ''}>
        Add filter
      </Button>
    </form>
  );
};

/** Adds a condition on any path with any operator. */
export const FilterBuilder = ({ onAdd }: { onAdd: (condition: Condition) => void }) => {
  const [open, setOpen] = useState(false);
  return (
    <Popup label="+ Filter" name="New filter" align="start" open={open} onOpenChange={setOpen}>
      <ConditionForm
        onAdd={(condition) => {
          setOpen(false);
          onAdd(condition);
        }}
      />
    </Popup>
  );
};
