import { type FormEvent, type RefObject, useEffect, useState } from 'react';
import type { Status } from '../../api/calls.ts';
import { Menu } from '../../ui/menu.tsx';
import { conditionText, FilterBuilder } from './filter-builder.tsx';
import { type FeedbackFilter, feedbackFilters, type TracesSearch } from './search.ts';
import { TimeMenu } from './time-menu.tsx';

/** A change of the list's state; undefined takes something out of it. */
export type Change = { readonly [Field in keyof TracesSearch]?: TracesSearch[Field] | undefined };

interface FilterBarProps {
  readonly search: TracesSearch;
  readonly searchBox: RefObject<HTMLInputElement | null>;
  readonly onChange: (change: Change) => void;
}

const statuses: readonly (readonly [Status, string])[] = [
  ['success', 'ok'],
  ['error', 'error'],
  ['descendant_error', 'error below'],
  ['running', 'running'],
];

const SearchBox = ({ search, searchBox, onChange }: FilterBarProps) => {
  const [text, setText] = useState(search.text ?? '');
  useEffect(() => setText(search.text ?? ''), [search.text]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onChange({ text: text.trim() || undefined });
  };
  return (
    <form className="search" onSubmit={submit} role="search">
      <input
        type="search"
        ref={searchBox}
        aria-label="Search in inputs and outputs"
        placeholder="Search in inputs and outputs"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </form>
  );
};

const StatusMenu = ({ search: { status = [] }, onChange }: FilterBarProps) => {
  const toggled = (value: Status): readonly string[] =>
    status.includes(value) ? status.filter((other) => other !== value) : [...status, value];
  const shown = statuses.filter(([value]) => status.includes(value)).map(([, text]) => text);
  return (
    <Menu
      label={<>{shown.length > 0 ? shown.join(', ') : 'Any status'} ▾</>}
      items={statuses.map(([value, text]) => ({
        label: text,
        checked: status.includes(value),
        onSelect: () => {
          const next = toggled(value);
          onChange({ status: next.length > 0 ? next : undefined });
        },
      }))}
    />
  );
};

const feedbackTexts: Readonly<Record<FeedbackFilter, string>> = {
  given: 'with feedback',
  up: 'thumbs up',
  down: 'thumbs down',
  score: 'with a score',
  note: 'with a note',
  correction: 'with a correction',
  none: 'without feedback',
};

const FeedbackMenu = ({ search: { feedback }, onChange }: FilterBarProps) => (
  <Menu
    label={<>{feedback ? feedbackTexts[feedback] : 'Any feedback'} ▾</>}
    items={feedbackFilters.map((value) => ({
      label: feedbackTexts[value],
      checked: feedback === value,
      onSelect: () => onChange({ feedback: feedback === value ? undefined : value }),
    }))}
  />
);

const Chips = ({ search: { where = [], text }, onChange }: FilterBarProps) => {
  const chips = where.map((condition, at) => ({
    text: conditionText(condition),
    remove: () => {
      const rest = where.filter((_, index) => index !== at);
      onChange({ where: rest.length > 0 ? rest : undefined });
    },
  }));
  const all = text
    ? [{ text: `text contains ${text}`, remove: () => onChange({ text: undefined }) }, ...chips]
    : chips;
  return all.length === 0 ? null : (
    <ul className="chips" aria-label="Filters">
      {all.map((chip) => (
        <li key={chip.text} className="chip">
          <span className="cut" dir="auto">
            {chip.text}
          </span>
          <button type="button" aria-label={`Remove the filter ${chip.text}`} onClick={chip.remove}>
            ✕
          </button>
        </li>
      ))}
    </ul>
  );
};

/** What the list is filtered by. */
export const FilterBar = (props: FilterBarProps) => {
  const { search, onChange } = props;
  return (
    <>
      <div className="filters">
        <SearchBox {...props} />
        <TimeMenu span={search} onChange={({ range, from, to }) => onChange({ range, from, to })} />
        <StatusMenu {...props} />
        <FeedbackMenu {...props} />
        <Menu
          label={<>{search.all ? 'All calls' : 'Traces'} ▾</>}
          items={[
            {
              label: 'Traces: root calls',
              checked: !search.all,
              onSelect: () => onChange({ all: undefined }),
            },
            { label: 'All calls', checked: search.all === true, onSelect: () => onChange({ all: true }) },
          ]}
        />
        <FilterBuilder onAdd={(condition) => onChange({ where: [...(search.where ?? []), condition] })} />
      </div>
      <Chips {...props} />
    </>
  );
};
