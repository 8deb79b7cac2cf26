import { useQueryClient } from '@tanstack/react-query';
import {
  ClipboardCheck,
  Columns2,
  Database,
  ListChecks,
  type LucideIcon,
  Tag,
  Trash2,
  X,
} from 'lucide-react';
import { type ComponentProps, useState } from 'react';
import type { CallRow } from '../../api/calls.ts';
import { AddToDataset } from '../../calls/datasets/add-to-dataset.tsx';
import { useKnownTags, useTags } from '../../calls/figures/tags.ts';
import { AddToQueue } from '../../calls/queues/add-to-queue.tsx';
import { countedText, countText } from '../../data/format.ts';
import { readAgain, useAllowed, useRead, useSession } from '../../session/session.tsx';
import { Button, IconButton, Notice, QueryStatus } from '../../ui/controls.tsx';
import { Form, Input } from '../../ui/fields.tsx';
import { Confirm, Modal } from '../../ui/popups.tsx';
import { useWork } from '../../ui/work.ts';
import { countedCalls, deleteCalls, rootsAmong } from './delete.ts';
import type { usePicked } from './hooks.ts';

interface ActionProps extends ComponentProps<typeof Button> {
  readonly icon: LucideIcon;
  readonly name: string;
}

/** A button of the bar. Where there is little room, only its icon is seen. */
const Action = ({ icon: Icon, name, ...props }: ActionProps) => (
  <Button kind="quiet" title={name} {...props}>
    <Icon /> <span className="bulk-text">{name}</span>
  </Button>
);

/** The most traces whose calls are counted before they are deleted. */
const maxCounted = 1000;

interface DeleteDialogProps {
  readonly project: string;
  readonly calls: readonly string[];
  readonly rows: readonly CallRow[];
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
}

/** Says what goes with the calls, and asks. */
const DeleteDialog = ({ project, calls, rows, ...props }: DeleteDialogProps) => {
  const traces = rootsAmong(calls, rows)?.map(({ trace_id }) => trace_id);
  const { data } = useRead(
    ['calls of traces', project, traces],
    ({ client, signal }) =>
      client.ask('/calls/query_stats', { project_id: project, filter: { trace_ids: traces ?? [] } }, signal),
    { enabled: props.open && traces !== undefined && traces.length <= maxCounted },
  );
  const what = countedCalls(calls, rows);
  return (
    <Confirm title={`Delete ${what}?`} action={`Delete ${what}`} {...props}>
      This deletes {calls.length === 1 ? 'it' : 'them'} with all calls below, their inputs and outputs, and
      the feedback on them{data ? `: ${countedText(data.count, 'call')} in all` : ''}. It cannot be undone.
    </Confirm>
  );
};

/** What a tag may be, so that a path can name it. */
const tagPattern = '[^\\[\\]]+';

interface TagFormProps {
  readonly project: string;
  readonly calls: readonly string[];
  /** Is told once calls have a tag that they did not have. */
  readonly onTagged: () => void;
}

/** The tags that people gave the calls; gives them others, or takes some away. */
const TagForm = ({ project, calls, onTagged }: TagFormProps) => {
  const { query, found, tags, add, remove } = useTags(project, calls);
  const known = useKnownTags(project);
  const [text, setText] = useState('');
  const { doing, isBusy, error, run } = useWork();
  const tag = text.trim();
  const submit = () =>
    run(
      async () => {
        await add.mutateAsync(tag);
        setText((typed) => (typed.trim() === tag ? '' : typed));
        onTagged();
      },
      { as: 'Tagging…', failed: 'Not all of them were tagged.' },
    );
  return (
    <Form className="stack" onSubmit={submit}>
      <QueryStatus queries={[query]} loading="Loading their tags…" />
      {found && tags.length === 0 ? <p className="muted">Nobody has tagged them yet.</p> : null}
      {tags.length > 0 ? (
        <ul className="chips" aria-label="Tags">
          {tags.map(({ tag: given, count }) => (
            <li key={given} className="chip">
              <span className="cut" dir="auto">
                {given}
              </span>
              {count < calls.length ? (
                <span className="muted">
                  {countText(count)} of {countText(calls.length)}
                </span>
              ) : null}
              <button
                type="button"
                aria-label={`Remove the tag ${given}`}
                onClick={() =>
                  !isBusy &&
                  run(() => remove.mutateAsync(given), {
                    as: 'Removing…',
                    failed: 'The tag was not removed.',
                  })
                }
              >
                <X />
              </button>
            </li>
          ))}
        </ul>
      ) : null}
      <Input
        label="Tag"
        hint="Everybody sees it. Filter the list by it with + Filter › Tag."
        suggestions={known}
        required
        maxLength={64}
        pattern={tagPattern}
        title="up to 64 characters without brackets"
        value={text}
        onChange={setText}
      />
      {error ? <Notice kind="error">{error}</Notice> : null}
      <div className="row-end">
        <Button kind="primary" type="submit" idle={isBusy || !found || tag === ''}>
          {doing ?? `Tag ${countedText(calls.length, 'row')}`}
        </Button>
      </div>
    </Form>
  );
};

/** What lists, trees and counts are read again of, by the first part of their keys, once calls are gone. */
const stale = /^(trace|call|threads?|usage|values|queue calls|found inside)$/;

interface SelectionProps {
  readonly project: string;
  readonly rows: readonly CallRow[];
  readonly picks: ReturnType<typeof usePicked>;
  /** Is told the calls that were deleted. */
  readonly onDeleted: (calls: readonly string[]) => void;
  readonly onTagged: () => void;
}

/** What can be done with the rows that are selected. It lies over the end of the list, so that nothing moves. */
export const Selection = ({ project, rows, picks, onDeleted, onTagged }: SelectionProps) => {
  const { picked, pickAll, unpick, clear, compare } = picks;
  const mayWrite = useAllowed(project, 'write');
  const { client } = useSession();
  const cache = useQueryClient();
  const [dialog, setDialog] = useState<'tag' | 'dataset' | 'queue' | 'delete'>();
  const [outcome, setOutcome] = useState<string>();
  const { doing, isBusy, error, run, stop } = useWork();
  const close = () => setDialog(undefined);
  const remove = () => {
    const what = countedCalls(picked, rows);
    let count = 0;
    close();
    setOutcome(undefined);
    run(
      async ({ signal, say }) => {
        try {
          await deleteCalls({
            client,
            project,
            calls: picked,
            signal,
            onDeleted: (calls) => {
              count += calls.length;
              say(`Deleted ${countText(count)} of ${what}`);
              unpick(calls);
              onDeleted(calls);
            },
          });
          setOutcome(
            signal.aborted
              ? `Stopped: ${countText(count)} of ${what} are deleted.`
              : `${what} ${picked.length === 1 ? 'is' : 'are'} deleted.`,
          );
        } finally {
          await readAgain(cache, { predicate: ({ queryKey: [kind] }) => stale.test(String(kind)) });
        }
      },
      { as: `Deleting ${what}…`, failed: 'What is still selected was not deleted.' },
    );
  };
  if (picked.length === 0 && !isBusy && !outcome && !error) return null;
  return (
    <div className="bulk" role="toolbar" aria-label="Selected rows">
      {error ? <Notice kind="error">{error}</Notice> : null}
      {isBusy ? (
        <>
          <span role="status">{doing}</span>
          <Button onClick={stop}>Stop</Button>
        </>
      ) : picked.length === 0 ? (
        <>
          <span role="status">{outcome}</span>
          <IconButton icon={X} name="Close" onClick={() => setOutcome(undefined)} />
        </>
      ) : (
        <>
          <span className="bulk-count" role="status">
            {outcome ? `${outcome} ` : ''}
            {countText(picked.length)} selected
          </span>
          {rows.some(({ id }) => !picked.includes(id)) ? (
            <Action
              icon={ListChecks}
              name={`Select all ${countText(rows.length)} loaded`}
              onClick={() => pickAll(rows.map(({ id }) => id))}
            />
          ) : null}
          {picked.length === 2 ? <Action icon={Columns2} name="Compare the two" onClick={compare} /> : null}
          {mayWrite ? (
            <>
              <Action icon={Tag} name="Tag" onClick={() => setDialog('tag')} />
              <Action icon={Database} name="Add to dataset" onClick={() => setDialog('dataset')} />
              <Action icon={ClipboardCheck} name="Add to queue" onClick={() => setDialog('queue')} />
              <Action icon={Trash2} name="Delete" onClick={() => setDialog('delete')} />
            </>
          ) : (
            <span className="muted">Changing them takes a key with the role write.</span>
          )}
          <IconButton icon={X} name="Clear selection" onClick={clear} />
        </>
      )}
      <DeleteDialog
        project={project}
        calls={picked}
        rows={rows}
        open={dialog === 'delete'}
        onClose={close}
        onConfirm={remove}
      />
      <Modal title="Tag" open={dialog === 'tag'} onClose={close}>
        <TagForm project={project} calls={picked} onTagged={onTagged} />
      </Modal>
      <Modal title="Add to queue" open={dialog === 'queue'} onClose={close}>
        <AddToQueue project={project} calls={picked} />
      </Modal>
      <Modal title="Add to dataset" wide open={dialog === 'dataset'} onClose={close}>
        <AddToDataset project={project} calls={picked} />
      </Modal>
    </div>
  );
};
