import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { countText, durationText, tokensText } from '../../data/format.ts';
import { errorRate } from './changes.ts';
import type { GroupFigures } from './figures.ts';
import { callsOf } from './links.ts';
import type { Period } from './period.ts';
import { type Dimension, type Order, orders } from './search.ts';
import { percentText } from './texts.ts';
import { useCostText } from './use-cost-text.ts';

/** How many groups are shown. */
const shownCount = 50;

const titles: Readonly<Record<Order, string>> = {
  calls: 'Calls',
  errors: 'Errors',
  p50: 'p50',
  p95: 'p95',
  tokens: 'Tokens',
  cost: 'Cost',
};

type CellOf = (figures: GroupFigures, costText: (cost: number) => string) => ReactNode;

const cells: Readonly<Record<Order, CellOf>> = {
  calls: ({ calls }) => countText(calls),
  errors: (figures) =>
    figures.errors === 0 ? '' : `${countText(figures.errors)} · ${percentText(errorRate(figures))}`,
  p50: ({ p50 }) => (p50 === undefined ? '' : durationText(p50)),
  p95: ({ p95 }) => (p95 === undefined ? '' : durationText(p95)),
  tokens: ({ tokens }) => (tokens === 0 ? '' : tokensText(tokens)),
  cost: ({ cost }, costText) => (cost === undefined ? '' : costText(cost)),
};

/** The columns while nobody has counted errors and latencies. */
const partly: readonly Order[] = ['calls', 'tokens', 'cost'];

interface BreakdownProps {
  readonly project: string;
  readonly period: Period;
  readonly by: Dimension;
  /** Whether groups have errors and latencies. */
  readonly whole: boolean;
  readonly sort: Order;
  readonly groups: readonly GroupFigures[];
  readonly textOf: (group: string) => string;
  readonly onSort: (order: Order) => void;
}

/** The figures of each operation, model or user. */
export const Breakdown = ({ project, period, by, whole, sort, groups, textOf, onSort }: BreakdownProps) => {
  const costText = useCostText(project);
  const columns = whole ? orders : partly;
  const order = columns.includes(sort) ? sort : 'calls';
  const sorted = groups.toSorted((a, b) => (b[order] ?? -1) - (a[order] ?? -1));
  if (groups.length === 0) return <p className="muted">None in this time.</p>;
  return (
    <div className="scroll-x">
      <table className="plain-table breakdown">
        <thead>
          <tr>
            <th>Name</th>
            {columns.map((column) => (
              <th key={column} className="numeric" aria-sort={column === order ? 'descending' : 'none'}>
                <button type="button" className="sort" onClick={() => onSort(column)}>
                  {titles[column]}
                  <span aria-hidden="true">{column === order ? ' ↓' : ''}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, shownCount).map((figures) => (
            <tr key={figures.group ?? ''}>
              <td dir="auto" className="break">
                {figures.group === null ? (
                  <span className="muted">all others</span>
                ) : (
                  <Link to="/traces" search={callsOf(project, period, by, figures.group)}>
                    {textOf(figures.group)}
                  </Link>
                )}
              </td>
              {columns.map((column) => (
                <td key={column} className="numeric">
                  {cells[column](figures, costText)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {groups.length > shownCount ? (
        <p className="muted">
          The first {shownCount} of {countText(groups.length)} are shown.
        </p>
      ) : null}
    </div>
  );
};
