import { errorText } from '../../api/http.ts';
import type { Evaluator } from '../../calls/evaluators.ts';
import { useSession } from '../../session/session.tsx';
import { mayChange, useStoreEvaluator } from './data.ts';

/** Switches an evaluator on or off, for whoever may. */
export const Switch = ({ project, evaluator }: { project: string; evaluator: Evaluator }) => {
  const { me } = useSession();
  const { save } = useStoreEvaluator(project);
  const { id, value } = evaluator;
  // What was chosen shows at once, also before the list is there anew.
  const enabled = save.isPending ? save.variables.value.enabled : value.enabled;
  if (!mayChange(me, project, value)) return <span>{value.enabled ? 'on' : 'off'}</span>;
  return (
    <span className="stack">
      <label className="check switch">
        <input
          type="checkbox"
          aria-label={`Judge by ${value.name}`}
          checked={enabled}
          onChange={() => save.isPending || save.mutate({ id, value: { ...value, enabled: !enabled } })}
        />
        <span aria-hidden="true">{enabled ? 'on' : 'off'}</span>
      </label>
      {save.error ? <span className="error-text">{errorText(save.error)}</span> : null}
    </span>
  );
};
