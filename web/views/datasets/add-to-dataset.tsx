import { Link } from '@tanstack/react-router';
import { type FormEvent, useMemo, useState } from 'react';
import type { CallRow } from '../../api/calls.ts';
import { wordsOf } from '../../api/http.ts';
import { countedText, countText } from '../../data/format.ts';
import { useRead, useSession } from '../../session/session.tsx';
import { Button, Notice, QueryStatus } from '../../ui/controls.tsx';
import { readRows } from '../data.ts';
import { useDatasets, useSaveDataset } from './data.ts';
import { lineOf, meantBy, type Row, rowOfCall, typedOf } from './rows.ts';

/** Chooses a dataset by its name, or names a new one. */
export const DatasetName = ({
  project,
  name,
  onName,
}: {
  project: string;
  name: string;
  onName: (name: string) => void;
}) => {
  const { data = [] } = useDatasets(project);
  return (
    <label className="field">
      <span>Dataset</span>
      <input
        required
        maxLength={128}
        pattern="[^\/:]+"
        title="up to 128 characters without / and :"
        list="dataset-names"
        autoComplete="off"
        value={name}
        onChange={({ target }) => onName(target.value)}
      />
      <datalist id="dataset-names">
        {data.map(({ object_id }) => (
          <option key={object_id} value={object_id} />
        ))}
      </datalist>
    </label>
  );
};

/** What rows may expect in the place of what the calls answered. */
export interface Expected {
  readonly name: string;
  /** The values, by the ids of the calls. */
  readonly of: ReadonlyMap<string, unknown>;
}

/** What was typed in the place of what the call had. */
type Edits = Readonly<Partial<Record<'inputs' | 'expected', string>>>;

interface FieldsProps {
  readonly inputs: string;
  readonly expected: string;
  readonly onEdit: (edits: Edits) => void;
}

const Fields = ({ inputs, expected, onEdit }: FieldsProps) => (
  <>
    <label className="field">
      <span>Inputs</span>
      <textarea
        className="mono"
        spellCheck={false}
        value={inputs}
        onChange={({ target }) => onEdit({ inputs: target.value })}
      />
    </label>
    <label className="field">
      <span>Expected output</span>
      <textarea
        className="mono"
        spellCheck={false}
        value={expected}
        onChange={({ target }) => onEdit({ expected: target.value })}
      />
    </label>
  </>
);

/** What rows have in the place of the inputs and outputs of calls, by the ids of the calls. */
export type Parts = ReadonlyMap<string, { readonly inputs: unknown; readonly expected: unknown }>;

interface FormProps {
  readonly project: string;
  readonly calls: readonly CallRow[];
  readonly choices: readonly Expected[];
  readonly parts: Parts | undefined;
}

const nothing: Expected = { name: 'nothing', of: new Map() };

const Form = ({ project, calls, choices, parts }: FormProps) => {
  const { me } = useSession();
  const service = me.service.name === 'weave' ? 'weave' : 'svc';
  const save = useSaveDataset(project);
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<Expected>();
  const [edits, setEdits] = useState<Readonly<Record<string, Edits>>>({});
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [opened, setOpened] = useState<string>();
  const [phase, setPhase] = useState<'typing' | 'saving' | 'saved'>('typing');
  const [error, setError] = useState<string>();
  const rows = useMemo(
    () =>
      calls.map((call) => {
        const row = { ...rowOfCall(call, service), ...parts?.get(call.id) } as Row;
        return { id: call.id, row: chosen ? ({ ...row, expected: chosen.of.get(call.id) } as Row) : row };
      }),
    [calls, service, chosen, parts],
  );
  const typedIn = ({ id, row }: (typeof rows)[number]) => ({
    inputs: edits[id]?.inputs ?? typedOf(row.inputs),
    expected: edits[id]?.expected ?? (row.expected === undefined ? '' : typedOf(row.expected)),
  });
  const edit = (id: string, more: Edits) =>
    setEdits((before) => ({ ...before, [id]: { ...before[id], ...more } }));
  const kept = rows.filter(({ id }) => !left.has(id));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setPhase('saving');
    setError(undefined);
    const added = kept.map(({ id, row }) => {
      const { inputs, expected } = edits[id] ?? {};
      return {
        ...row,
        ...(inputs !== undefined && { inputs: meantBy(inputs) }),
        ...(expected !== undefined && { expected: meantBy(expected) }),
      } as Row;
    });
    try {
      await save(name, { kind: 'append', rows: added });
      setPhase('saved');
    } catch (failure) {
      setPhase('typing');
      setError(`Nothing was added. ${wordsOf(failure)}`);
    }
  };
  if (phase === 'saved')
    return (
      <Notice
        kind="info"
        action={
          <Link to="/datasets" search={{ project, dataset: name }}>
            Open {name}
          </Link>
        }
      >
        {kept.length === 1 ? 'The row was' : `${countText(kept.length)} rows were`} added to {name}, as a new
        version.
      </Notice>
    );
  const [only] = rows;
  return (
    <form className="stack" onSubmit={submit}>
      <DatasetName project={project} name={name} onName={setName} />
      {choices.length > 0 ? (
        <label className="field">
          <span>What is expected</span>
          <select
            value={chosen?.name ?? ''}
            onChange={({ target }) =>
              setChosen([...choices, nothing].find((choice) => choice.name === target.value))
            }
          >
            <option value="">what the call answered</option>
            {[...choices, nothing].map((choice) => (
              <option key={choice.name}>{choice.name}</option>
            ))}
          </select>
        </label>
      ) : null}
      {rows.length === 1 && only ? (
        <Fields {...typedIn(only)} onEdit={(more) => edit(only.id, more)} />
      ) : (
        <ul className="new-rows" aria-label="New rows">
          {kept.map((row) => {
            const { inputs, expected } = typedIn(row);
            const isOpen = opened === row.id;
            return (
              <li key={row.id}>
                <div className="row-between">
                  <button
                    type="button"
                    className="dataset-row"
                    dir="auto"
                    aria-expanded={isOpen}
                    onClick={() => setOpened(isOpen ? undefined : row.id)}
                  >
                    <span className="cut">{lineOf(meantBy(inputs))}</span>
                    <span className="cut muted">{lineOf(meantBy(expected))}</span>
                  </button>
                  <Button
                    kind="quiet"
                    aria-label={`Leave out ${lineOf(meantBy(inputs))}`}
                    onClick={() => setLeft((before) => new Set([...before, row.id]))}
                  >
                    ✕
                  </Button>
                </div>
                {isOpen ? (
                  <div className="stack">
                    <Fields inputs={inputs} expected={expected} onEdit={(more) => edit(row.id, more)} />
                  </div>
                ) : null}
              </li>
            );
          })}
        </ul>
      )}
      {error ? <Notice kind="error">{error}</Notice> : null}
      <div className="row-end">
        <Button kind="primary" type="submit" disabled={phase === 'saving' || kept.length === 0}>
          {phase === 'saving'
            ? 'Adding…'
            : kept.length === 1
              ? 'Add row'
              : `Add ${countText(kept.length)} rows`}
        </Button>
      </div>
    </form>
  );
};

/** How many calls are read at once by their ids. */
const idsAtOnce = 1000;

interface AddToDatasetProps {
  readonly project: string;
  /** The ids of the calls, in the order of the rows. */
  readonly calls: readonly string[];
  /** @default - what the calls answered */
  readonly choices?: readonly Expected[];
  /** @default - the inputs and outputs of the calls */
  readonly parts?: Parts;
}

/** Makes rows of calls, to be changed before they are added to a dataset. */
export const AddToDataset = ({ project, calls, choices = [], parts }: AddToDatasetProps) => {
  const query = useRead(['calls for rows', project, calls], async (reading) => {
    const found = new Map<string, CallRow>();
    for (let at = 0; at < calls.length; at += idsAtOnce) {
      const request = {
        project_id: project,
        filter: { call_ids: calls.slice(at, at + idsAtOnce) },
        columns: ['inputs', 'output'],
      };
      for (const call of await readRows(reading, request)) found.set(call.id, call);
    }
    return calls.flatMap((id) => found.get(id) ?? []);
  });
  const { data } = query;
  const gone = calls.length - (data?.length ?? calls.length);
  return (
    <>
      <QueryStatus of={[query]} loading={calls.length === 1 ? 'Loading the call…' : 'Loading the calls…'} />
      {gone === 0 ? null : (
        <Notice kind="error">
          {calls.length === 1 ? 'This call is' : `${countedText(gone, 'call')} of these are`} not there any
          more.
        </Notice>
      )}
      {data && data.length > 0 ? (
        <Form project={project} calls={data} choices={choices} parts={parts} />
      ) : null}
    </>
  );
};
