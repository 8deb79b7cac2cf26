import { ChevronDown } from 'lucide-react';
import { type Changes, isOfAllCalls, type TracesSearch, totalsPath } from '../../navigation/search.ts';
import { Menu } from '../../ui/popups.tsx';
import { pathText } from './paths.ts';

const totals = (name: string): string => `-${totalsPath}.${name}`;

/** The usual orders of a list: their words, the order, and whether calls below roots have it. */
const sorts: readonly (readonly [text: string, sort: string, ofAll: boolean])[] = [
  ['Newest first', '-started_at', true],
  ['Oldest first', 'started_at', true],
  ['Slowest', '-summary.svc.latency_ms', true],
  ['Most expensive', totals('total_cost'), false],
  ['Most tokens', totals('input_tokens'), false],
  ['Most errors', totals('error_count'), false],
  ['Most calls', totals('call_count'), false],
];

/** An order in words: one of the usual, one of them the other way, or a column with its direction. */
const orderText = (sort: string): string => {
  const textOf = (order: string) => sorts.find(([, sorting]) => sorting === order)?.[0];
  const other = textOf(`-${sort}`);
  return (
    textOf(sort) ??
    (other ? `${other} last` : `${pathText(sort.replace(/^-/, ''))} ${sort.startsWith('-') ? '↓' : '↑'}`)
  );
};

export interface SearchMenuProps {
  readonly search: TracesSearch;
  readonly onChange: (change: Changes<TracesSearch>) => void;
}

/** Chooses an order, also of columns that are not in sight. */
export const SortMenu = ({ search, onChange }: SearchMenuProps) => {
  const { sort = '-started_at' } = search;
  const shown = sorts.filter(([, , ofAll]) => ofAll || !isOfAllCalls(search));
  const present = orderText(sort);
  return (
    <Menu
      name={`Order: ${present}`}
      label={
        <>
          {present} <ChevronDown />
        </>
      }
      items={shown.map(([label, sorting]) => ({
        label,
        checked: sorting === sort,
        onSelect: () => onChange({ sort: sorting === '-started_at' ? undefined : sorting }),
      }))}
    />
  );
};
