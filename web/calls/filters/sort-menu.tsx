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

/** The columns that no filter has, in words. */
const titles: Readonly<Record<string, string>> = {
  started_at: 'Started',
  [`${totalsPath}.call_count`]: 'Calls',
  [`${totalsPath}.error_count`]: 'Errors',
  [`${totalsPath}.input_tokens`]: 'Tokens',
  [`${totalsPath}.total_cost`]: 'Cost',
};

/** An order in words: one of the usual, or a column with its direction. */
const orderText = (sort: string): string => {
  const usual = sorts.find(([, sorting]) => sorting === sort);
  if (usual) return usual[0];
  const path = sort.replace(/^-/, '');
  return `${titles[path] ?? pathText(path)}, ${sort.startsWith('-') ? 'descending' : 'ascending'}`;
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
