import { getRouteApi } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { type ComponentProps, useRef, useState } from 'react';
import type { Price } from '../../api/contract.ts';
import { errorText } from '../../api/http.ts';
import { useModels } from '../../calls/figures/used.ts';
import { maxPrices, usePrices } from '../../calls/prices.ts';
import { momentText } from '../../data/format.ts';
import { useAllowed } from '../../session/session.tsx';
import { Button, Notice, QueryStatus, ScrollTable, SearchBox, type TableColumn } from '../../ui/controls.tsx';
import { Form, Input, TimeInput } from '../../ui/fields.tsx';
import { Confirm } from '../../ui/popups.tsx';
import { emptyPrice, type PriceForm, perMillion, typedPrice } from './price.ts';

const fields: readonly (readonly [
  keyof PriceForm,
  string,
  Pick<ComponentProps<'input'>, 'placeholder' | 'inputMode' | 'type'>?,
])[] = [
  ['model', 'Model', { placeholder: 'gpt-4o-mini' }],
  ['input', 'Input, per million tokens', { inputMode: 'decimal', placeholder: '0.15' }],
  ['output', 'Output, per million tokens', { inputMode: 'decimal', placeholder: '0.60' }],
  ['unit', 'Currency'],
  ['provider', 'Provider', { placeholder: 'default' }],
];

interface AddPriceProps {
  readonly project: string;
  readonly add: ReturnType<typeof usePrices>['add'];
}

/** Adds a price to the project. */
const AddPrice = ({ project, add }: AddPriceProps) => {
  const models = useModels(project);
  const [form, setForm] = useState<PriceForm>(emptyPrice);
  const [problem, setProblem] = useState<string>();
  const submit = () => {
    const price = typedPrice(form);
    setProblem('problem' in price ? price.problem : undefined);
    if (!('problem' in price)) add.mutate(price, { onSuccess: () => setForm(emptyPrice) });
  };
  return (
    <Form className="card stack" onSubmit={submit} aria-label="Add a price">
      <h3>Add a price</h3>
      <div className="price-fields">
        {fields.map(([field, label, props]) => (
          <Input
            key={field}
            label={label}
            {...props}
            value={form[field]}
            onChange={(value) => setForm((before) => ({ ...before, [field]: value }))}
            {...(field === 'model' && { suggestions: models })}
          />
        ))}
        <TimeInput
          label="Effective from"
          hint="Now, if empty."
          value={form.from}
          onChange={(from) => setForm((before) => ({ ...before, from }))}
        />
      </div>
      {problem ? <Notice kind="error">{problem}</Notice> : null}
      {add.error ? <Notice kind="error">The price was not added. {errorText(add.error)}</Notice> : null}
      <div>
        <Button kind="primary" type="submit" disabled={add.isPending}>
          {add.isPending ? 'Adding…' : 'Add price'}
        </Button>
      </div>
    </Form>
  );
};

const route = getRouteApi('/settings');

/** The columns of prices, with a button to remove each if that is allowed. */
const makeColumns = (onRemove: ((price: Price, row: number) => void) | undefined): TableColumn<Price>[] => [
  { title: 'Model', className: 'break', cell: ({ llm_id }) => llm_id },
  { title: 'Input / 1M', className: 'numeric', cell: (price) => perMillion(price.prompt_token_cost) },
  { title: 'Output / 1M', className: 'numeric', cell: (price) => perMillion(price.completion_token_cost) },
  { title: 'Currency', cell: ({ prompt_token_cost_unit }) => prompt_token_cost_unit },
  { title: 'Effective from', cell: ({ effective_date = '' }) => momentText(effective_date) },
  { title: 'Provider', cell: ({ provider_id }) => provider_id },
  ...(onRemove
    ? [
        {
          title: 'Remove',
          className: 'action' as const,
          cell: (price: Price, row: number) => (
            <Button
              kind="quiet"
              className="icon"
              aria-label={`Remove the price of ${price.llm_id}`}
              onClick={() => onRemove(price, row)}
            >
              <X />
            </Button>
          ),
        },
      ]
    : []),
];

/** The project's own prices of models, and what adds to them. */
export const PricesSection = ({ project }: { project: string }) => {
  const { model = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const { query, add, remove } = usePrices(project);
  const [removing, setRemoving] = useState<Price>();
  const row = useRef(0);
  const { data = [] } = query;
  const mayWrite = useAllowed(project, 'write');
  const shown = data.filter(({ llm_id = '' }) => llm_id.toLowerCase().includes(model.toLowerCase()));
  const search = (text: string) =>
    navigate({ search: { project, section: 'prices', ...(text !== '' && { model: text }) }, replace: true });
  const ask = (price: Price, at: number) => {
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
    <>
      <p className="muted">
        A model without a price here costs what the service&apos;s table of list prices says. A price counts
        for calls that started when it was in force, also for those that are there already.
      </p>
      <QueryStatus queries={[query]} loading="Loading prices…" />
      {query.data && data.length === 0 ? (
        <Notice kind="info">{project} has no prices of its own: list prices count.</Notice>
      ) : null}
      {data.length > 5 ? <SearchBox label="Search models" text={model} onText={search} /> : null}
      {shown.length > 0 ? (
        <ScrollTable
          label="Prices"
          columns={makeColumns(mayWrite ? ask : undefined)}
          rows={shown}
          getKey={({ id = '' }) => id}
        />
      ) : null}
      {data.length > 0 && shown.length === 0 ? <p className="muted">No model has this name.</p> : null}
      {data.length === maxPrices ? (
        <p className="muted">Only the first {maxPrices} prices are shown.</p>
      ) : null}
      {mayWrite ? (
        <AddPrice project={project} add={add} />
      ) : (
        <p className="muted">You may not add prices: that takes the role write on {project}.</p>
      )}
      <Confirm
        title="Remove this price?"
        action="Remove"
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        finalFocus={focusAfter}
        idle={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(removing?.id ?? '', { onSuccess: () => setRemoving(undefined) })}
      >
        Calls that cost this will cost what {removing?.llm_id} costs without it: an earlier price, the list
        price, or nothing.
      </Confirm>
    </>
  );
};
