import { countText } from '../../data/format.ts';
import { Table, type TableColumn } from '../../ui/controls.tsx';
import { useCostText } from '../prices.ts';
import { percentText } from './figures.ts';
import {
  cachedShare,
  type Spending,
  type SpendingByModel,
  sumAmounts,
  sumSpending,
  type TokenKind,
  tokenKinds,
} from './spending.ts';

const titles: Readonly<Record<TokenKind, string>> = {
  input: 'Input',
  cacheRead: 'Cache read',
  cacheWrite: 'Cache write',
  output: 'Output',
  reasoning: 'Reasoning',
};

type Row = readonly [model: string, spending: Spending];

const total = 'All models';

/** Where money went: tokens and costs by model and kind of token, without the kinds that nobody used. */
export const SpendingTable = ({ project, byModel }: { project: string; byModel: SpendingByModel }) => {
  const costText = useCostText(project);
  const sum = sumSpending(byModel);
  if (!sum) return null;
  const columns: TableColumn<Row>[] = [
    { title: 'Model', className: 'break', cell: ([model]) => model },
    // Beside a tree there is no room for all columns: the sums are those that do not scroll out of sight.
    {
      title: 'Tokens',
      className: 'numeric',
      cell: ([, { tokens }]) => countText(sumAmounts(tokens)),
    },
    {
      title: 'Cost',
      className: 'numeric',
      cell: ([, { costs }]) => (costs ? costText(sumAmounts(costs)) : 'no price'),
    },
    ...tokenKinds
      .filter((kind) => sum.tokens[kind] > 0)
      .map((kind) => ({
        title: titles[kind],
        className: 'numeric' as const,
        cell: ([, { tokens, costs }]: Row) =>
          tokens[kind] === 0 ? null : (
            <>
              {countText(tokens[kind])}
              {costs ? <span className="hint spent"> {costText(costs[kind])}</span> : null}
            </>
          ),
      })),
    {
      title: 'From cache',
      className: 'numeric',
      cell: ([, { tokens }]) => percentText(cachedShare(tokens)),
    },
  ];
  return (
    <div className="scroll-x">
      <Table
        className="as-cards"
        columns={columns}
        rows={byModel.size > 1 ? [...byModel, [total, sum]] : [...byModel]}
        getKey={([model]) => model}
      />
    </div>
  );
};
