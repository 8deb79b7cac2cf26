import { useState } from 'react';
import {
  type Condition,
  costOperators,
  costPath,
  needsValue,
  type Operator,
  operators,
  type TracesSearch,
} from '../../navigation/search.ts';
import { Button } from '../../ui/controls.tsx';
import { Choice, Form, Input } from '../../ui/fields.tsx';
import { useScorePaths } from '../figures/tags.ts';
import { useValues } from './facets.tsx';
import { suggestions } from './paths.ts';

const suggestedPaths = suggestions.map(({ path, text }) => [path, text] as const);

interface ConditionFormProps {
  /** The list that it is for. */
  readonly search: TracesSearch;
  /** The path of a number that it begins with. @default - none is chosen yet */
  readonly begun?: string | undefined;
  readonly onAdd: (condition: Condition) => void;
}

/** Adds a condition on any column or path, with any operator. What the project has there is suggested. */
export const ConditionForm = ({ search, begun, onAdd }: ConditionFormProps) => {
  const [path, setPath] = useState(begun ?? 'op_name');
  const [op, setOp] = useState<Operator>(begun === undefined ? 'contains' : 'below');
  const [value, setValue] = useState('');
  const ofCost = path.trim() === costPath;
  const values = useValues(search, path.trim());
  const scores = useScorePaths(search);
  const choosePath = (next: string) => {
    setPath(next);
    const suggested = suggestions.find((suggestion) => suggestion.path === next);
    if (suggested) setOp(suggested.op);
  };
  const submit = () => {
    onAdd({ path: path.trim(), op, value: needsValue(op) ? value : '' });
  };
  return (
    <Form className="stack" onSubmit={submit}>
      <Input
        label="Column or path"
        suggestions={[...suggestedPaths, ...scores]}
        required
        value={path}
        onChange={choosePath}
      />
      <Choice label="Operator" value={op} options={ofCost ? costOperators : operators} onChange={setOp} />
      {needsValue(op) ? (
        <Input
          label="Value"
          // Whoever chose the number has a bound in mind.
          autoFocus={begun !== undefined}
          {...(ofCost ? { type: 'number', required: true } : { suggestions: values })}
          value={value}
          onChange={setValue}
        />
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
    </Form>
  );
};
