import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { DatasetName } from '../../calls/datasets/add-to-dataset.tsx';
import { useSaveDataset } from '../../calls/datasets/data.ts';
import { rowsIn } from '../../calls/datasets/rows.ts';
import { countText } from '../../data/format.ts';
import { Button, Check, Notice } from '../../ui/controls.tsx';
import { Form } from '../../ui/fields.tsx';
import { useWork } from '../../ui/work.ts';

interface ImportFormProps {
  readonly project: string;
  /** The dataset that gets the rows. @default - to be named */
  readonly dataset?: string;
  readonly onClose: () => void;
}

/** Makes a version of a dataset from a file. */
export const ImportForm = ({ project, dataset = '', onClose }: ImportFormProps) => {
  const save = useSaveDataset(project);
  const navigate = useNavigate();
  const [name, setName] = useState(dataset);
  const [file, setFile] = useState<File>();
  const [replace, setReplace] = useState(false);
  const { doing: progress, error, run, stop } = useWork();
  const submit = () => {
    if (!file) return;
    run(
      async ({ signal, say }) => {
        const rows = rowsIn(await file.text(), /\.csv$/i.test(file.name) ? 'csv' : 'jsonl');
        const onProgress = (done: number) => say(`${countText(done)} of ${countText(rows.length)}`);
        await save(name, { kind: replace ? 'replace' : 'append', rows }, { onProgress, signal });
        onClose();
        await navigate({ to: '/datasets', search: { project, dataset: name } });
      },
      { failed: 'Nothing was imported.' },
    );
  };
  return (
    <Form className="stack" onSubmit={submit}>
      <DatasetName project={project} name={name} onName={setName} />
      <label className="field">
        <span>JSON Lines, or CSV with a header row</span>
        <input
          type="file"
          required
          accept=".jsonl,.ndjson,.csv"
          onChange={({ target }) => setFile(target.files?.[0])}
        />
      </label>
      <Check label="Replace existing rows" checked={replace} onChange={setReplace} />
      {error ? <Notice kind="error">{error}</Notice> : null}
      <div className="row-end">
        {progress === undefined ? (
          <Button kind="primary" type="submit">
            Import
          </Button>
        ) : (
          <Button onClick={stop}>
            Stop the import <span className="muted">{progress}</span>
          </Button>
        )}
      </div>
    </Form>
  );
};
