import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useRef, useState } from 'react';
import { wordsOf } from '../../api/http.ts';
import type { Cost } from '../../api/types.ts';
import { momentText } from '../../data/format.ts';
import { allows, useSession } from '../../session/session.tsx';
import { Button, Notice, QueryStatus } from '../../ui/controls.tsx';
import { Modal } from '../../ui/popups.tsx';
import { maxPrices, usePrices } from '../data.ts';
import { emptyPrice, type PriceForm, perMillion, typedPrice } from './price.ts';

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
const AddPrice = ({ add }: { add: ReturnType<typeof usePrices>['add'] }) => {
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

const route = getRouteApi('/prices');

interface TableProps {
  readonly prices: readonly Cost[];
  /** @default - prices cannot be removed */
  readonly onRemove?: (price: Cost, row: number) => void;
}

const PriceTable = ({ prices, onRemove }: TableProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
  <div className="scroll-x" role="region" aria-label="Prices" tabIndex={0}>
    <table className="plain-table wide">
      <thead>
        <tr>
          <th>Model</th>
          <th className="numeric">Input / 1M</th>
          <th className="numeric">Output / 1M</th>
          <th>Currency</th>
          <th>In force from</th>
          <th>Provider</th>
          {onRemove ? <th>Remove</th> : null}
        </tr>
      </thead>
      <tbody>
        {prices.map((price, row) => (
          <tr key={price.id}>
            <td className="break" dir="auto">
              {price.llm_id}
            </td>
            <td className="numeric">{perMillion(price.prompt_token_cost)}</td>
            <td className="numeric">{perMillion(price.completion_token_cost)}</td>
            <td dir="auto">{price.prompt_token_cost_unit}</td>
            <td>{momentText(price.effective_date ?? '')}</td>
            <td dir="auto">{price.provider_id}</td>
            {onRemove ? (
              <td>
                <Button
                  kind="quiet"
                  aria-label={`Remove the price of ${price.llm_id}`}
                  onClick={() => onRemove(price, row)}
                >
                  ✕
                </Button>
              </td>
            ) : null}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** The project's own prices of models, and what adds to them. */
export const PricesView = () => {
  const { project, model = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const { me } = useSession();
  const { query, add, remove } = usePrices(project);
  const [removing, setRemoving] = useState<Cost>();
  const row = useRef(0);
  const { data = [] } = query;
  const mayWrite = allows(me, project, 'write');
  const shown = data.filter(({ llm_id = '' }) => llm_id.toLowerCase().includes(model.toLowerCase()));
  const search = (text: string) =>
    navigate({ search: { project, ...(text !== '' && { model: text }) }, replace: true });
  const ask = (price: Cost, at: number) => {
    row.current = at;
    setRemoving(price);
  };
  /** The button of the same row, which is the next price after a removal, or the form. */
  const focusAfter = (): HTMLElement | null => {
    const buttons = document.querySelectorAll<HTMLElement>('.plain-table button');
    return (
      buttons[Math.min(row.current, buttons.length - 1)] ?? document.querySelector('.price-fields input')
    );
  };
  return (
    <main className="page wide">
      <h1>Prices</h1>
      <p className="muted">
        A model without a price here costs what the service&apos;s table of list prices says. A price counts
        for calls that started when it was in force, also for those that are there already.
      </p>
      <QueryStatus of={[query]} loading="Loading prices…" />
      {query.data && data.length === 0 ? (
        <Notice kind="info">{project} has no prices of its own: list prices count.</Notice>
      ) : null}
      {data.length > 5 ? (
        <input
          type="search"
          aria-label="Search models"
          placeholder="Search models"
          value={model}
          onChange={(event) => search(event.target.value)}
        />
      ) : null}
      {shown.length > 0 ? <PriceTable prices={shown} {...(mayWrite && { onRemove: ask })} /> : null}
      {data.length > 0 && shown.length === 0 ? <p className="muted">No model has this name.</p> : null}
      {data.length === maxPrices ? <p className="muted">These are the first {maxPrices} prices.</p> : null}
      {mayWrite ? (
        <AddPrice add={add} />
      ) : (
        <p className="muted">This key may not add prices: it lacks the role write on {project}.</p>
      )}
      <Modal
        title="Remove this price?"
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        finalFocus={focusAfter}
      >
        <p>
          Calls that cost this will cost what {removing?.llm_id} costs without it: an earlier price, the list
          price, or nothing.
        </p>
        {remove.error ? <Notice kind="error">{wordsOf(remove.error)}</Notice> : null}
        <div className="row-end">
          <Button onClick={() => setRemoving(undefined)}>Keep it</Button>
          <Button
            kind="primary"
            disabled={remove.isPending}
            onClick={() => remove.mutate(removing?.id ?? '', { onSuccess: () => setRemoving(undefined) })}
          >
            Remove
          </Button>
        </div>
      </Modal>
    </main>
  );
};
