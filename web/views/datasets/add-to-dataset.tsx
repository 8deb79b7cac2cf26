import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { Call } from '../../api/contract.ts';
import { wordsOf } from '../../api/http.ts';
import { useSession } from '../../session/session.tsx';
import { Button, Notice, QueryStatus } from '../../ui/controls.tsx';
import { useCall } from '../data.ts';
import { useDatasets, useSaveDataset } from './data.ts';
import { meantBy, type Row, rowOfCall, typedOf } from './rows.ts';

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

const Form = ({ call }: { call: Call }) => {
  const { project_id: project } = call;
  const { me } = useSession();
  const row = rowOfCall(call, me.service.name === 'weave' ? 'weave' : 'svc');
  const save = useSaveDataset(project);
  const [name, setName] = useState('');
  const [inputs, setInputs] = useState(() => typedOf(row.inputs));
  const [expected, setExpected] = useState(() => typedOf(row.expected));
  const [phase, setPhase] = useState<'typing' | 'saving' | 'saved'>('typing');
  const [error, setError] = useState<string>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setPhase('saving');
    setError(undefined);
    const added = { ...row, inputs: meantBy(inputs), expected: meantBy(expected) } as Row;
    try {
      await save(name, { kind: 'append', rows: [added] });
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
        The row was added to {name}, as a new version.
      </Notice>
    );
  return (
    <form className="stack" onSubmit={submit}>
      <DatasetName project={project} name={name} onName={setName} />
      <label className="field">
        <span>Inputs</span>
        <textarea
          className="mono"
          spellCheck={false}
          value={inputs}
          onChange={({ target }) => setInputs(target.value)}
        />
      </label>
      <label className="field">
        <span>Expected output</span>
        <textarea
          className="mono"
          spellCheck={false}
          value={expected}
          onChange={({ target }) => setExpected(target.value)}
        />
      </label>
      {error ? <Notice kind="error">{error}</Notice> : null}
      <div className="row-end">
        <Button kind="primary" type="submit" disabled={phase === 'saving'}>
          {phase === 'saving' ? 'Adding…' : 'Add row'}
        </Button>
      </div>
    </form>
  );
};

/** Makes a row of a call, to be changed before it is added to a dataset. */
export const AddToDataset = ({ project, call }: { project: string; call: string }) => {
  const query = useCall(project, call);
  return (
    <>
      <QueryStatus of={[query]} loading="Loading the call…" />
      {query.data ? <Form call={query.data} /> : null}
      {query.data === null ? <Notice kind="error">This call is not there any more.</Notice> : null}
    </>
  );
};
