import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ObjectVersion } from '../../api/contract.ts';
import { useCall } from '../../calls/data.ts';
import { type Change, useSaveDataset } from '../../calls/datasets/data.ts';
import { getSource, type Row } from '../../calls/datasets/rows.ts';
import { isObject, jsonIn } from '../../data/values.ts';
import { Button, Notice } from '../../ui/controls.tsx';
import { Form, TextArea } from '../../ui/fields.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { useWork } from '../../ui/work.ts';

/** Leads to the call that a row was taken from, if that is still there. */
const SourceLink = ({ project, id }: { project: string; id: string }) => {
  const { data } = useCall(project, id);
  if (data === undefined) return null;
  if (data === null) return <p className="muted">The call that this row was taken from was deleted.</p>;
  return (
    <p>
      <Link to="/trace" search={{ project, trace: data.trace_id, call: id }}>
        The call that this row was taken from
      </Link>
    </p>
  );
};

interface RowFormProps {
  readonly version: ObjectVersion;
  /** The row and its place, from 0 up. @default - a new one */
  readonly row?: Row;
  readonly place?: number;
  readonly mayEdit: boolean;
  readonly onClose: () => void;
}

/** A row to be read, changed or deleted. What is saved is a new version. */
export const RowForm = ({ version, row, place, mayEdit, onClose }: RowFormProps) => {
  const save = useSaveDataset(version.project_id);
  const [text, setText] = useState(() => JSON.stringify(row ?? { inputs: {}, expected: '' }, null, 2));
  const { isBusy: saving, error, run, refuse } = useWork();
  const source = row && getSource(row);
  type Updates = Extract<Change, { kind: 'edit' }>['updates'];
  const apply = (updates: Updates) =>
    run(
      async () => {
        await save(version.object_id, { kind: 'edit', version: version.digest, updates });
        onClose();
      },
      { failed: 'Nothing was saved.' },
    );
  const gone: Updates = place === undefined ? [] : [{ pop: { index: place } }];
  const submit = () => {
    const value = jsonIn(text);
    if (!isObject(value)) return refuse('A row is a JSON object, such as {"inputs": {"question": "…"}}.');
    const changed = value as Row;
    apply(
      place === undefined
        ? [{ append: { row: changed } }]
        : [...gone, { insert: { index: place, row: changed } }],
    );
  };
  return (
    <Form className="stack" onSubmit={submit}>
      {source ? <SourceLink {...source} /> : null}
      {mayEdit ? (
        <>
          <TextArea mono label="The row as JSON" value={text} onChange={setText} />
          {error ? <Notice kind="error">{error}</Notice> : null}
          <div className="row-end">
            {row ? (
              <Button disabled={saving} onClick={() => apply(gone)}>
                Delete row
              </Button>
            ) : null}
            <Button kind="primary" type="submit" disabled={saving}>
              {saving ? 'Saving…' : 'Save as a new version'}
            </Button>
          </div>
        </>
      ) : (
        <JsonTree value={row} path="" label="row" />
      )}
    </Form>
  );
};
