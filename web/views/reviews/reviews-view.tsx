import { getRouteApi, Link } from '@tanstack/react-router';
import { ClipboardCheck } from 'lucide-react';
import { Suspense, useMemo, useState } from 'react';
import { type CallRow, getCallName } from '../../api/calls.ts';
import { computeAgreement, type Value, valueText } from '../../calls/agreement.ts';
import { useInSight } from '../../calls/data.ts';
import { AddDialog, AddToDataset } from '../../calls/datasets/add-dialog.tsx';
import { filterTexts } from '../../calls/filters/filters.tsx';
import { chosenCount, toFilter } from '../../calls/filters/kept-filter.ts';
import { useQueuedCalls } from '../../calls/queues/add-to-queue.tsx';
import { countedText, countText } from '../../data/format.ts';
import { toChunks } from '../../data/values.ts';
import { useChange } from '../../navigation/change.ts';
import type { ReviewsSearch } from '../../navigation/search.ts';
import { type Me, personText, useAllowed, useSession } from '../../session/session.tsx';
import { Button, Empty, Notice, QueryStatus, Table, type TableColumn } from '../../ui/controls.tsx';
import { lazily } from '../../ui/lazy.ts';
import { goTo, ObjectLink } from '../../ui/object-list.tsx';
import { Confirm } from '../../ui/popups.tsx';
import { View } from '../../ui/view.tsx';
import { useWork } from '../../ui/work.ts';
import { maxCalls, type QueueState, useQueue, useQueues, useReviewing, useSaveQueue } from './data.ts';
import { type Field, isOfHeaders, type Queue, type Review, type Reviews } from './queue.ts';
import { askedText, QueueForm } from './queue-form.tsx';

const ReviewView = lazily(() => import('./review-view.tsx'), 'ReviewView');

const route = getRouteApi('/reviews');

/** A count of a queue's calls, of which there may be more. */
const ofCalls = (count: number, { calls }: QueueState): string =>
  `${countText(count)}${calls.length >= maxCalls ? '+' : ''}`;

const QueueLink = ({ project, queue }: { project: string; queue: Queue }) => {
  // Others are read when somebody opens them.
  const isRead = isOfHeaders(queue.query);
  const { state } = useQueue(project, queue, isRead);
  return (
    <li>
      <ObjectLink
        to="/reviews"
        search={{ project, queue: queue.id }}
        name={queue.name}
        about={
          state
            ? `${ofCalls(state.standing.open.length, state)} open · ${countText(state.standing.done)} done`
            : isRead
              ? '…'
              : 'open it to count'
        }
      />
    </li>
  );
};

/** Agreement on what they are asked. */
const AgreementTable = ({ state: { fields, calls, reviews } }: { state: QueueState }) => {
  const rows = useMemo(
    () =>
      fields.flatMap((field) => {
        const answers = calls.map(({ id }) =>
          [...(reviews.get(id)?.values() ?? [])].flatMap(({ values }) => values.get(field.id) ?? []),
        );
        const agreement = field.question.kind === 'text' ? undefined : computeAgreement(answers);
        return agreement ? [{ field, ...agreement }] : [];
      }),
    [fields, calls, reviews],
  );
  if (rows.length === 0) return null;
  const numeric = 'numeric' as const;
  return (
    <section className="stack" aria-label="Agreement">
      <h3>Agreement</h3>
      <div className="scroll-x">
        <Table
          columns={[
            { title: 'Field', className: 'break', cell: ({ field }) => field.name },
            { title: 'Calls with two reviews', className: numeric, cell: ({ items }) => countText(items) },
            { title: 'Same answer', className: numeric, cell: ({ share }) => `${Math.round(share * 100)} %` },
            {
              title: 'Beyond chance (α)',
              className: numeric,
              cell: ({ alpha }) => (alpha === undefined ? '–' : alpha.toFixed(2)),
            },
          ]}
          rows={rows}
          getKey={({ field }) => field.id}
        />
      </div>
      <p className="hint">
        α is Krippendorff’s: 1 if all agree, 0 if they agree as often as chance would have it. From 0.8 on,
        answers are taken to be reliable.
      </p>
    </section>
  );
};

/** What people answered to a field, with their names where they differ or are several. */
const answersTo = (field: Field, people: ReadonlyMap<string, Review> | undefined, me: Me): string => {
  const answers = [...(people ?? [])].flatMap(([person, { values }]) => {
    const value = values.get(field.id);
    return value === undefined ? [] : [[person, valueText(value)] as const];
  });
  const [first] = answers;
  if (!first) return '';
  if (answers.every(([, text]) => text === first[1])) return first[1];
  return answers.map(([person, text]) => `${text} (${personText(person, me)})`).join(', ');
};

/** The last answers to a field, by call. */
const lastAnswers = (field: Field, reviews: Reviews): ReadonlyMap<string, Value> =>
  new Map(
    [...reviews].flatMap(([call, people]): [string, Value][] => {
      const [last] = [...people.values()]
        .filter(({ values }) => values.has(field.id))
        .toSorted((a, b) => (a.at < b.at ? 1 : -1));
      const value = last?.values.get(field.id);
      return value === undefined ? [] : [[call, value]];
    }),
  );

/** So many reviewed calls are listed at once. */
const pageSize = 50;

/** What was reviewed, the last first. */
const Reviewed = ({ project, state }: { project: string; state: QueueState }) => {
  const { fields, reviews, standing } = state;
  const { me } = useSession();
  const { takeBack } = useReviewing(project);
  const mayWrite = useAllowed(project, 'write');
  const [shown, setShown] = useState(pageSize);
  const [adding, setAdding] = useState<readonly string[]>();
  const { error, run } = useWork();
  const rows = useMemo(() => standing.reviewed.slice(0, shown), [standing, shown]);
  const batches = useMemo(() => toChunks(rows, pageSize), [rows]);
  const known = useInSight(project, batches, ['display_name', 'preview', 'summary.svc']);
  if (rows.length === 0) return null;
  const back = (call: string) =>
    run(() => takeBack(call, reviews.get(call)?.get(me.user)?.records ?? []), {
      failed: 'The review was not deleted.',
    });
  const columns: TableColumn<CallRow>[] = [
    {
      title: 'Call',
      className: 'break',
      cell: (row) => (
        <Link
          to="/trace"
          search={{ project, trace: row.trace_id, ...(row.parent_id && { call: row.id }) }}
          className="thread-link"
        >
          {known.get(row.id)?.preview?.input ?? getCallName(known.get(row.id) ?? row)}
        </Link>
      ),
    },
    ...fields.map((field) => ({
      title: field.name,
      className: 'break' as const,
      cell: ({ id }: CallRow) => answersTo(field, reviews.get(id), me),
    })),
    { title: 'By', cell: ({ id }) => [...(reviews.get(id)?.keys() ?? [])].join(', ') },
    ...(mayWrite
      ? [
          {
            title: 'Actions',
            className: 'action' as const,
            cell: ({ id }: CallRow) => (
              <span className="row-end wrap">
                <Button kind="quiet" onClick={() => setAdding([id])}>
                  Add to dataset
                </Button>
                {reviews.get(id)?.has(me.user) ? (
                  <Button kind="quiet" onClick={() => back(id)}>
                    Take back
                  </Button>
                ) : null}
              </span>
            ),
          },
        ]
      : []),
  ];
  return (
    <section className="stack" aria-label="Reviewed calls">
      <div className="row-between wrap">
        <h3>{countedText(standing.reviewed.length, 'reviewed call')}</h3>
        {mayWrite && standing.reviewed.length > 1 ? (
          <Button onClick={() => setAdding(standing.reviewed.map(({ id }) => id))}>
            Add all {countText(standing.reviewed.length)} to dataset
          </Button>
        ) : null}
      </div>
      {error ? <Notice kind="error">{error}</Notice> : null}
      <div className="scroll-x">
        <Table className="wide as-cards" columns={columns} rows={rows} getKey={({ id }) => id} />
      </div>
      {standing.reviewed.length > shown ? (
        <Button onClick={() => setShown(shown + pageSize)}>More</Button>
      ) : null}
      <AddDialog open={adding !== undefined} onClose={() => setAdding(undefined)}>
        {adding ? (
          <AddToDataset
            project={project}
            calls={adding}
            choices={fields.map((field) => ({ name: field.name, values: lastAnswers(field, reviews) }))}
          />
        ) : null}
      </AddDialog>
    </section>
  );
};

interface SelectedProps {
  readonly project: string;
  readonly queue: Queue;
  readonly onEdit: () => void;
}

/** How a queue stands. */
const Selected = ({ project, queue, onEdit }: SelectedProps) => {
  const { me } = useSession();
  const change = useChange<ReviewsSearch>(route.useNavigate());
  const { state, queries } = useQueue(project, queue);
  const { remove } = useSaveQueue(project);
  const [deleting, setDeleting] = useState(false);
  const { error, run } = useWork();
  const mayWrite = useAllowed(project, 'write');
  const isAsked = queue.assignees === undefined || queue.assignees.includes(me.user);
  const filter = toFilter(queue);
  const chosen = chosenCount(filter);
  const unknown = filter.others.length + Object.keys(filter.rest).length - (chosen === undefined ? 0 : 1);
  const removed = () =>
    run(
      async () => {
        await remove(queue.id);
        change({ queue: undefined });
      },
      { failed: 'The queue was not deleted.' },
    );
  return (
    <section ref={goTo} tabIndex={-1} className="stack" aria-label="Queue">
      <div className="row-between wrap">
        <h2 dir="auto">{queue.name}</h2>
        <span className="row-end wrap">
          {mayWrite ? (
            <>
              <Button onClick={() => setDeleting(true)}>Delete</Button>
              <Button onClick={onEdit}>Edit</Button>
            </>
          ) : null}
          {mayWrite && isAsked && state && state.standing.open.length > 0 ? (
            <Link
              to="/reviews"
              search={{ project, queue: queue.id, review: true }}
              className="button primary"
            >
              Review {ofCalls(state.standing.open.length, state)}
            </Link>
          ) : null}
        </span>
      </div>
      <p className="facts">
        <span>
          {chosen === undefined ? filterTexts(filter).join(' · ') : countedText(chosen, 'chosen call')}
        </span>
        {unknown > 0 ? <span>and {countedText(unknown, 'further condition')}</span> : null}
        <span>{queue.reviews === 1 ? 'one review each' : `${queue.reviews} reviews each`}</span>
        <span dir="auto">by {queue.assignees?.join(', ') ?? 'everybody'}</span>
      </p>
      {mayWrite ? null : <p className="hint">Reviewing takes a key with the role write on {project}.</p>}
      {isAsked ? null : <p className="hint">You are not a reviewer of this queue.</p>}
      <QueryStatus queries={queries} loading="Loading the queue…" />
      {error ? <Notice kind="error">{error}</Notice> : null}
      {state ? (
        <>
          <dl className="standing">
            <div>
              <dt>open for you</dt>
              <dd>{ofCalls(state.standing.open.length, state)}</dd>
            </div>
            <div>
              <dt>reviewed by you</dt>
              <dd>{countText(state.standing.own)}</dd>
            </div>
            <div>
              <dt>done</dt>
              <dd>
                {countText(state.standing.done)} of {ofCalls(state.calls.length, state)}
              </dd>
            </div>
          </dl>
          <ul className="asked-list" aria-label="Fields">
            {state.fields.map((field) => (
              <li key={field.id}>
                <strong dir="auto">{field.name}</strong> <span className="muted">{askedText(field)}</span>
                {field.description ? <p dir="auto">{field.description}</p> : null}
              </li>
            ))}
          </ul>
          {state.fields.length < queue.fields.length ? (
            <p className="hint">
              {countedText(queue.fields.length - state.fields.length, 'field')} of this queue cannot be asked
              here: deleted, or of a kind that the page does not know.
            </p>
          ) : null}
          <AgreementTable state={state} />
          <Reviewed project={project} state={state} />
        </>
      ) : null}
      <Confirm
        title={`Delete ${queue.name}?`}
        action="Delete the queue"
        open={deleting}
        onClose={() => setDeleting(false)}
        onConfirm={removed}
      >
        This deletes the queue with all its versions. Reviews stay on the calls.
      </Confirm>
    </section>
  );
};

/** The queues of a project, how they stand, and the reviewing itself. */
export const ReviewsView = () => {
  const { project, queue: id, review } = route.useSearch();
  const change = useChange<ReviewsSearch>(route.useNavigate());
  const query = useQueues(project);
  const [queued, keepQueued] = useQueuedCalls(project);
  const [form, setForm] = useState<'new' | 'edit' | undefined>(queued.length > 0 ? 'new' : undefined);
  const { data } = query;
  const queue = data?.find((candidate) => candidate.id === id);
  const mayWrite = useAllowed(project, 'write');
  if (queue && review)
    return (
      <Suspense fallback={<p className="muted center">Loading…</p>}>
        <ReviewView
          key={queue.id}
          project={project}
          queue={queue}
          onLeave={() => change({ review: undefined })}
        />
      </Suspense>
    );
  const leaveForm = () => {
    setForm(undefined);
    keepQueued([]);
  };
  const saved = (id: string) => {
    leaveForm();
    change({ queue: id });
  };
  const shown = () => {
    if (form === 'new')
      return <QueueForm project={project} calls={queued} onSaved={saved} onCancel={leaveForm} />;
    if (queue && form === 'edit')
      return (
        <QueueForm
          key={queue.id}
          project={project}
          queue={queue}
          onSaved={saved}
          onCancel={() => setForm(undefined)}
        />
      );
    if (queue)
      return <Selected key={queue.id} project={project} queue={queue} onEdit={() => setForm('edit')} />;
    if (id !== undefined)
      return (
        <Notice kind="error">This queue does not exist: it was deleted, or the link is incomplete.</Notice>
      );
    return data && data.length > 0 ? (
      <p className="muted to-choose">Choose a queue to see its progress.</p>
    ) : null;
  };
  return (
    <View
      title="Reviews"
      actions={
        mayWrite ? (
          <Button kind="primary" onClick={() => setForm('new')}>
            New queue
          </Button>
        ) : null
      }
    >
      <QueryStatus queries={[query]} loading="Loading queues…" />
      {data?.length === 0 && form !== 'new' ? (
        <Empty icon={ClipboardCheck} title={`${project} has no queues yet`}>
          A queue has people look at calls one after the other, and fill in what they think. You see how far
          they are, and how much they agree.
        </Empty>
      ) : null}
      {data && data.length > 0 ? (
        <div className="objects">
          <ul className="object-list" aria-label="Queues">
            {data.map((listed) => (
              <QueueLink key={listed.id} project={project} queue={listed} />
            ))}
          </ul>
          {shown()}
        </div>
      ) : (
        data && shown()
      )}
    </View>
  );
};
