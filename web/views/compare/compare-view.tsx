import { getRouteApi, Link } from '@tanstack/react-router';
import { wordsOf } from '../../api/errors.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useCall } from '../trace/use-trace.ts';
import { Chooser } from './chooser.tsx';
import { Comparison } from './comparison.tsx';

const route = getRouteApi('/compare');

/** A call by its id, and what stands there while it is not. */
const useSide = (project: string, id: string | undefined) => {
  const query = useCall(project, id === undefined ? undefined : { id });
  return { ...query, isGone: query.data === null };
};

/** Two calls, or two traces by their roots, with their differences marked. */
export const CompareView = () => {
  const { project, left, right } = route.useSearch();
  const navigate = route.useNavigate();
  const sides = [useSide(project, left), useSide(project, right)] as const;
  const [one, other] = [sides[0].data, sides[1].data];
  const failed = sides.find(({ error }) => error);
  return (
    <main className="overview">
      <div className="actions">
        <h1>Compare</h1>
        <span className="spring" />
        {left && right ? (
          <Button onClick={() => navigate({ search: { project, left: right, right: left } })}>Swap</Button>
        ) : null}
      </div>
      {failed ? (
        <Notice kind="error" action={<Button onClick={() => failed.refetch()}>Try again</Button>}>
          {wordsOf(failed.error)}
        </Notice>
      ) : null}
      {sides.some(({ isGone }) => isGone) ? (
        <Notice
          kind="error"
          action={
            <Link to="/traces" search={{ project }}>
              All traces
            </Link>
          }
        >
          One of the calls is not there: it was deleted, or its id is cut off.
        </Notice>
      ) : null}
      {left === undefined ? (
        <Notice
          kind="info"
          action={
            <Link to="/traces" search={{ project }}>
              All traces
            </Link>
          }
        >
          Select two rows in a list, or choose <em>Compare</em> beside a call.
        </Notice>
      ) : null}
      {(left && sides[0].isPending) || (right && sides[1].isPending) ? (
        <p className="muted">Loading the calls…</p>
      ) : null}
      {one && right === undefined ? (
        <Chooser call={one} onChoose={(id) => navigate({ search: { project, left: one.id, right: id } })} />
      ) : null}
      {one && other ? <Comparison left={one} right={other} /> : null}
    </main>
  );
};
