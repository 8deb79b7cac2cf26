import { countText } from '../../data/format.ts';
import { Button } from '../../ui/button.tsx';
import type { CallList } from './call-list.ts';
import { CountButton } from './count-button.tsx';
import type { ListState } from './list-state.ts';

interface ListProgressProps {
  readonly state: ListState;
  readonly list: CallList;
  readonly live: boolean;
  /** Whether the page filters the rows itself, by their cost. */
  readonly filtered: boolean;
  readonly onStop: () => void;
  readonly onMore: () => void;
}

/** How many rows there are, and what is going on. */
export const ListProgress = ({ state, list, live, filtered, onStop, onMore }: ListProgressProps) => (
  <div className="progress" role="status">
    <span>
      {countText(state.rows.length)}
      {state.complete ? '' : '+'} {state.rows.length === 1 ? 'row' : 'rows'}
    </span>
    {filtered ? (
      <span className="muted" title="What rows cost is looked up one by one">
        of {countText(state.read)} looked at
      </span>
    ) : null}
    {/* Costs and feedback are joined to rows, and not counted by. */}
    {state.complete || state.rows.length === 0 || list.request.include_feedback || filtered ? null : (
      <CountButton key={list.number} list={list} />
    )}
    {state.phase === 'reading' ? (
      <>
        <span className="muted">reading…</span>
        <Button kind="quiet" onClick={onStop}>
          Stop
        </Button>
      </>
    ) : null}
    {state.phase === 'stopped' ? (
      <>
        <span className="muted">stopped</span>
        <Button kind="quiet" onClick={onMore}>
          Go on
        </Button>
      </>
    ) : null}
    {live ? <span className="live">live</span> : null}
  </div>
);
