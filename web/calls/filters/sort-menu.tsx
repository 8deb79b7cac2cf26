import { ChevronDown } from 'lucide-react';
import { type Changes, isOfAllCalls, type TracesSearch, totalsPath } from '../../navigation/search.ts';
import { Menu } from '../../ui/popups.tsx';

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

export interface SearchMenuProps {
  readonly search: TracesSearch;
  readonly onChange: (change: Changes<TracesSearch>) => void;
}

/** Chooses an order, also of columns that are not in sight. */
export const SortMenu = ({ search, onChange }: SearchMenuProps) => {
  const { sort = '-started_at' } = search;
  const shown = sorts.filter(([, , ofAll]) => ofAll || !isOfAllCalls(search));
  const present = shown.find(([, sorting]) => sorting === sort)?.[0] ?? 'Sorted';
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
