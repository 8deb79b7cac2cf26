import { Link } from '@tanstack/react-router';
import { countText, durationText, tokensText } from '../../data/format.ts';
import { callsIn } from './links.ts';
import type { Point } from './series.ts';
import { bucketText } from './texts.ts';
import { useCostText } from './use-cost-text.ts';

const heads = ['Calls', 'Errors', 'p50', 'p95', 'Tokens', 'Cost'] as const;

/** The values of the charts, each with a link to its calls: for the keyboard and screen readers. */
export const ValuesTable = ({ project, points }: { project: string; points: readonly Point[] }) => {
  const costText = useCostText(project);
  return (
    <details className="values">
      <summary>The values as a table</summary>
      <div className="scroll-x">
        <table className="plain-table">
          <thead>
            <tr>
              <th>Time</th>
              {heads.map((head) => (
                <th key={head} className="numeric">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {points
              .filter(({ calls }) => calls > 0)
              .map((point) => (
                <tr key={point.from}>
                  <td>
                    <Link to="/traces" search={callsIn(project, { start: point.from, end: point.to })}>
                      {bucketText(point)}
                    </Link>
                  </td>
                  <td className="numeric">{countText(point.calls)}</td>
                  <td className="numeric">{countText(point.errors)}</td>
                  <td className="numeric">{point.p50 === undefined ? '' : durationText(point.p50)}</td>
                  <td className="numeric">{point.p95 === undefined ? '' : durationText(point.p95)}</td>
                  <td className="numeric">{tokensText(point.tokens)}</td>
                  <td className="numeric">{point.cost === undefined ? '' : costText(point.cost)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </details>
  );
};
