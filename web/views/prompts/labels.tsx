import { Tag } from 'lucide-react';
import { useState } from 'react';
import { errorText } from '../../api/http.ts';
import { Person, useAllowed } from '../../session/session.tsx';
import { Button, Moment, ScrollTable, type TableColumn } from '../../ui/controls.tsx';
import { Form, Input } from '../../ui/fields.tsx';
import { Menu, Modal } from '../../ui/popups.tsx';
import { useToast } from '../../ui/toasts.tsx';
import { type LabelMove, maxMoves, type PromptRow, useChangePrompt, useProtected } from './data.ts';

/** What every prompt is offered. */
const usualLabels = ['production', 'staging'];

const versionText = (index: number | null): string => (index === null ? 'no version' : `v${index}`);

/** A move as it was done, in words. */
const moveText = (label: string, to: number | null): string =>
  to === null ? `${label} was removed.` : `${label} is on ${versionText(to)} now.`;

/** Moves labels of a prompt, and says so, with what moves them back. */
export const useMoveLabel = (project: string, name: string) => {
  const { move } = useChangePrompt(project);
  const tell = useToast();
  const run = (label: string, to: number | null, from: number | null): void =>
    move.mutate(
      { name, label, version_index: to },
      { onSuccess: () => tell(moveText(label, to), 'Move back', () => run(label, from, to)) },
    );
  return { run, isMoving: move.isPending, error: move.error };
};

type Move = ReturnType<typeof useMoveLabel>;

/** Which labels somebody may not move, and why. */
const useLocked = (project: string) => {
  const isAdmin = useAllowed(project, 'admin');
  const { data: locked = [] } = useProtected(project);
  return (label: string): string | undefined =>
    !isAdmin && locked.includes(label) ? 'protected: takes the role admin' : undefined;
};

interface LabelMenuProps {
  readonly project: string;
  readonly prompt: PromptRow;
  /** The version that gets or loses labels. */
  readonly version: number;
  readonly move: Move;
}

/** Gives labels to a version, and takes them away. */
export const LabelMenu = ({ project, prompt, version, move }: LabelMenuProps) => {
  const getReason = useLocked(project);
  const [typed, setTyped] = useState<string>();
  const at = new Map(prompt.labels.map(({ label, version_index }) => [label, version_index]));
  const labels = [...new Set([...at.keys(), ...usualLabels])].sort();
  const close = () => setTyped(undefined);
  const create = () => {
    const label = (typed ?? '').trim();
    move.run(label, version, at.get(label) ?? null);
    close();
  };
  return (
    <>
      <Menu
        label={
          <>
            <Tag /> Labels
          </>
        }
        name={`Labels of v${version}`}
        head={`Labels of v${version}`}
        items={[
          ...labels.map((label) => {
            const on = at.get(label) ?? null;
            const reason = getReason(label);
            return {
              label: (
                <span className="label-choice">
                  <span className="cut">{label}</span>
                  <span className="hint">{reason ?? (on === null || on === version ? '' : `on v${on}`)}</span>
                </span>
              ),
              checked: on === version,
              disabled: reason !== undefined || move.isMoving,
              onSelect: () => move.run(label, on === version ? null : version, on),
            };
          }),
          {
            label: (
              <span className="label-choice">
                <span>latest</span>
                <span className="hint">moves by itself</span>
              </span>
            ),
            checked: version === prompt.version_index,
            disabled: true,
            onSelect: () => {},
          },
          { label: 'Another label…', onSelect: () => setTyped('') },
        ]}
      />
      <Modal title={`A label for v${version}`} open={typed !== undefined} onClose={close}>
        <Form className="stack" onSubmit={create}>
          <Input
            label="Label"
            hint="A version can have many; each label is on one version."
            maxLength={128}
            value={typed ?? ''}
            onChange={setTyped}
          />
          <div className="row-end">
            <Button onClick={close}>Cancel</Button>
            <Button type="submit" kind="primary" disabled={(typed ?? '').trim() === ''}>
              Move here
            </Button>
          </div>
        </Form>
      </Modal>
    </>
  );
};

interface HistoryProps {
  readonly project: string;
  readonly prompt: PromptRow;
  readonly history: readonly LabelMove[];
  /** The numbers of the versions that there are. */
  readonly versions: ReadonlySet<number>;
  readonly move: Move;
}

/** The moves of a prompt's labels, each of which can be taken back. */
export const LabelHistory = ({ project, prompt, history, versions, move }: HistoryProps) => {
  const mayWrite = useAllowed(project, 'write');
  const getReason = useLocked(project);
  const at = new Map(prompt.labels.map(({ label, version_index }) => [label, version_index]));
  /** Why a move cannot be taken back; empty if that would change nothing. */
  const whyNot = ({ label, previous_version_index: back }: LabelMove): string | undefined => {
    if ((at.get(label) ?? null) === back) return '';
    return back !== null && !versions.has(back) ? `v${back} was deleted` : getReason(label);
  };
  const columns: readonly TableColumn<LabelMove>[] = [
    { title: 'Label', cell: ({ label }) => label },
    { title: 'From', cell: ({ previous_version_index }) => versionText(previous_version_index) },
    { title: 'To', cell: ({ version_index }) => versionText(version_index) },
    { title: 'When', cell: ({ moved_at }) => <Moment time={moved_at} /> },
    { title: 'By', cell: ({ svc_user_id }) => <Person user={svc_user_id} /> },
    ...(mayWrite
      ? [
          {
            title: 'Undo',
            cell: (one: LabelMove) => {
              const reason = whyNot(one);
              if (reason !== undefined) return reason ? <span className="muted">{reason}</span> : null;
              const { label, previous_version_index: back } = one;
              const text = back === null ? 'Remove again' : `Move back to ${versionText(back)}`;
              return (
                <Button
                  kind="quiet"
                  idle={move.isMoving}
                  aria-label={`${text}: ${label}`}
                  onClick={() => move.run(label, back, at.get(label) ?? null)}
                >
                  {text}
                </Button>
              );
            },
          },
        ]
      : []),
  ];
  if (history.length === 0) return <p className="muted">No label was moved yet.</p>;
  return (
    <>
      <ScrollTable
        label="Moves of labels"
        className="wide as-cards prompt-history"
        columns={columns}
        rows={history}
        getKey={({ id }) => id}
      />
      {history.length === maxMoves ? <p className="muted">Only the latest {maxMoves} are shown.</p> : null}
    </>
  );
};

/** What went wrong with a move. */
export const moveError = ({ error }: Move): string | undefined =>
  error ? `The label was not moved. ${errorText(error)}` : undefined;
