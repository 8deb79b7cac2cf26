import { type FormEvent, useState } from 'react';
import { wordsOf } from '../../api/errors.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { emptyPrice, type PriceForm, typedPrice } from './price.ts';
import type { usePrices } from './use-prices.ts';

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
  readonly numeric?: boolean;
  readonly type?: string;
}

const Field = ({ label, value, onChange, numeric, ...props }: FieldProps) => (
  <label className="field">
    <span>{label}</span>
    <input
      value={value}
      spellCheck={false}
      {...(numeric && { inputMode: 'decimal' })}
      {...props}
      onChange={(event) => onChange(event.target.value)}
    />
  </label>
);

/** Adds a price to the project. */
export const AddPrice = ({ add }: { add: ReturnType<typeof usePrices>['add'] }) => {
  const [form, setForm] = useState<PriceForm>(emptyPrice);
  const [problem, setProblem] = useState<string>();
  const set = (field: keyof PriceForm) => (value: string) =>
    setForm((before) => ({ ...before, [field]: value }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const price = typedPrice(form);
    setProblem('problem' in price ? price.problem : undefined);
    if (!('problem' in price)) add.mutate(price, { onSuccess: () => setForm(emptyPrice) });
  };
  return (
    <form className="card stack" onSubmit={submit} aria-label="Add a price">
      <h2>Add a price</h2>
      <div className="price-fields">
        <Field label="Model" value={form.model} onChange={set('model')} placeholder="gpt-4o-mini" />
        <Field
          label="Input, per million tokens"
          value={form.input}
          onChange={set('input')}
          numeric
          placeholder="0.15"
        />
        <Field
          label="Output, per million tokens"
          value={form.output}
          onChange={set('output')}
          numeric
          placeholder="0.60"
        />
        <Field label="Currency" value={form.unit} onChange={set('unit')} />
        <Field
          label="In force from (now, if empty)"
          value={form.from}
          onChange={set('from')}
          type="datetime-local"
        />
        <Field label="Provider" value={form.provider} onChange={set('provider')} placeholder="default" />
      </div>
      {problem ? <Notice kind="error">{problem}</Notice> : null}
      {add.error ? <Notice kind="error">The price was not added. {wordsOf(add.error)}</Notice> : null}
      <div>
        <Button kind="primary" type="submit" disabled={add.isPending}>
          {add.isPending ? 'Adding…' : 'Add price'}
        </Button>
      </div>
    </form>
  );
};
