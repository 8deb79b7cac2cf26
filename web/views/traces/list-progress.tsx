import type { CallsQueryReq } from '../../api/types.ts';
import { countText } from '../../data/format.ts';
import { Button } from '../../ui/button.tsx';
import type { ListState } from './call-list.ts';
import { CountButton } from './count-button.tsx';

interface ListProgressProps {
  readonly state: ListState;
  readonly request: CallsQueryReq;
  readonly live: boolean;
  readonly onStop: () => void;
}

/** How many rows there are, and what is going on. */
export const ListProgress = ({ state, request, live, onStop }: ListProgressProps) => (
  <div className="progress" role="status">
    <span>
      {countText(state.rows.length)}
      {state.complete ? '' : '+'} {state.rows.length === 1 ? 'row' : 'rows'}
    </span>
    {/* Costs and feedback are joined to rows, and not counted by. */}
    {state.complete || state.rows.length === 0 || request.include_feedback ? null : (
      <CountButton key={JSON.stringify(request)} request={request} />
    )}
    {state.phase === 'reading' ? (
      <>
        <span className="muted">reading…</span>
        <Button kind="quiet" onClick={onStop}>
          Stop
        </Button>
      </>
    ) : null}
    {state.phase === 'stopped' ? <span className="muted">stopped</span> : null}
    {live ? <span className="live">live</span> : null}
  </div>
);
