import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { CallRow } from '../../api/calls.ts';
import { countedText, countText } from '../../data/format.ts';
import { toChunks } from '../../data/values.ts';
import { useRead } from '../../session/session.tsx';
import { Button, Notice, QueryStatus } from '../../ui/controls.tsx';
import { Choice, Form, Input, TextArea } from '../../ui/fields.tsx';
import { useWork } from '../../ui/work.ts';
import { readRows } from '../data.ts';
import { useDatasets, useSaveDataset } from './data.ts';
import { meantBy, type Row, rowOfCall, toLine, toTyped } from './rows.ts';

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
    <Input
      label="Dataset"
      required
      maxLength={128}
      pattern="[^\/:]+"
      title="up to 128 characters without / and :"
      suggestions={data.map(({ object_id }) => object_id)}
      value={name}
      onChange={onName}
    />
  );
};

/** What rows may expect in the place of what the calls answered. */
export interface Expected {
  readonly name: string;
  /** The values, by the ids of the calls. */
  readonly values: ReadonlyMap<string, unknown>;
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
    <TextArea mono label="Inputs" value={inputs} onChange={(next) => onEdit({ inputs: next })} />
    <TextArea mono label="Expected output" value={expected} onChange={(next) => onEdit({ expected: next })} />
  </>
);

/** What rows have in the place of the inputs and outputs of calls, by the ids of the calls. */
export type RowValues = ReadonlyMap<string, { readonly inputs: unknown; readonly expected: unknown }>;

interface RowsFormProps {
  readonly project: string;
  readonly calls: readonly CallRow[];
  readonly choices: readonly Expected[];
  readonly parts: RowValues | undefined;
}

const nothing: Expected = { name: 'nothing', values: new Map() };

const RowsForm = ({ project, calls, choices, parts }: RowsFormProps) => {
  const save = useSaveDataset(project);
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<Expected>();
  const [edits, setEdits] = useState<Readonly<Record<string, Edits>>>({});
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [opened, setOpened] = useState<string>();
  const [isSaved, setSaved] = useState(false);
  const { isBusy, error, run } = useWork();
  const rows = useMemo(
    () =>
      calls.map((call) => {
        const row = { ...rowOfCall(call), ...parts?.get(call.id) } as Row;
        return { id: call.id, row: chosen ? ({ ...row, expected: chosen.values.get(call.id) } as Row) : row };
      }),
    [calls, chosen, parts],
  );
  const typedIn = ({ id, row }: (typeof rows)[number]) => ({
    inputs: edits[id]?.inputs ?? toTyped(row.inputs),
    expected: edits[id]?.expected ?? (row.expected === undefined ? '' : toTyped(row.expected)),
  });
  const edit = (id: string, more: Edits) =>
    setEdits((before) => ({ ...before, [id]: { ...before[id], ...more } }));
  const kept = rows.filter(({ id }) => !left.has(id));
  const store = async () => {
    const added = kept.map(({ id, row }) => {
      const { inputs, expected } = edits[id] ?? {};
      return {
        ...row,
        ...(inputs !== undefined && { inputs: meantBy(inputs) }),
        ...(expected !== undefined && { expected: meantBy(expected) }),
      } as Row;
    });
    await save(name, { kind: 'append', rows: added });
    setSaved(true);
  };
  const submit = () => {
    run(store, { failed: 'Nothing was added.' });
  };
  if (isSaved)
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
    <Form className="stack" onSubmit={submit}>
      <DatasetName project={project} name={name} onName={setName} />
      {choices.length > 0 ? (
        <Choice
          label="What is expected"
          value={chosen?.name ?? ''}
          options={[['', 'the output of the call'], ...[...choices, nothing].map((choice) => choice.name)]}
          onChange={(next) => setChosen([...choices, nothing].find((choice) => choice.name === next))}
        />
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
                    <span className="cut">{toLine(meantBy(inputs))}</span>
                    <span className="cut muted">{toLine(meantBy(expected))}</span>
                  </button>
                  <Button
                    kind="quiet"
                    aria-label={`Leave out ${toLine(meantBy(inputs))}`}
                    onClick={() => setLeft((before) => new Set([...before, row.id]))}
                  >
                    <X />
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
        <Button kind="primary" type="submit" disabled={isBusy || kept.length === 0}>
          {isBusy ? 'Adding…' : kept.length === 1 ? 'Add row' : `Add ${countText(kept.length)} rows`}
        </Button>
      </div>
    </Form>
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
  readonly parts?: RowValues;
}

/** Makes rows of calls, to be changed before they are added to a dataset. */
export const AddToDataset = ({ project, calls, choices = [], parts }: AddToDatasetProps) => {
  const query = useRead(['calls for rows', project, calls], async (reading) => {
    const found = new Map<string, CallRow>();
    for (const call_ids of toChunks(calls, idsAtOnce)) {
      const request = { project_id: project, filter: { call_ids }, columns: ['inputs', 'output'] };
      for (const call of await readRows(reading, request)) found.set(call.id, call);
    }
    return calls.flatMap((id) => found.get(id) ?? []);
  });
  const { data } = query;
  const gone = calls.length - (data?.length ?? calls.length);
  return (
    <>
      <QueryStatus
        queries={[query]}
        loading={calls.length === 1 ? 'Loading the call…' : 'Loading the calls…'}
      />
      {gone === 0 ? null : (
        <Notice kind="error">
          {calls.length === 1 ? 'This call is' : `${countedText(gone, 'call')} of these are`} not there any
          more.
        </Notice>
      )}
      {data && data.length > 0 ? (
        <RowsForm project={project} calls={data} choices={choices} parts={parts} />
      ) : null}
    </>
  );
};
