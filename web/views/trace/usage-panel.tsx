import { usageByModel } from '../../api/calls.ts';
import type { Call } from '../../api/types.ts';
import { costText, countText } from '../../data/format.ts';

/** Tokens and cost of the call itself, by model. */
export const UsagePanel = ({ call }: { call: Call }) => {
  const models = [...usageByModel(call)];
  if (models.length === 0)
    return (
      <p className="muted">
        This call reported no usage of its own. The tree shows what calls below it used.
      </p>
    );
  return (
    <div className="scroll-x">
      <table className="plain-table">
        <thead>
          <tr>
            <th>Model</th>
            <th className="numeric">Input tokens</th>
            <th className="numeric">Output tokens</th>
            <th className="numeric">Tokens</th>
            <th className="numeric">Cost</th>
          </tr>
        </thead>
        <tbody>
          {models.map(([model, { input, output, total, cost }]) => (
            <tr key={model}>
              <td className="break" dir="auto">
                {model}
              </td>
              <td className="numeric">{countText(input)}</td>
              <td className="numeric">{countText(output)}</td>
              <td className="numeric">{countText(total)}</td>
              <td className="numeric">{cost === undefined ? 'no price' : costText(cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};
