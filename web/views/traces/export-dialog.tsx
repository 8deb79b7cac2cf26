import { useState } from 'react';
import { forms } from '../../calls/datasets/rows.ts';
import type { CallList } from '../../calls/list/call-list.ts';
import { countRequest } from '../../calls/list/request.ts';
import { countedText, countText } from '../../data/format.ts';
import { useRead, useSession } from '../../session/session.tsx';
import { Button, Check, Notice } from '../../ui/controls.tsx';
import { Segments } from '../../ui/fields.tsx';
import { Modal } from '../../ui/popups.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { useWork } from '../../ui/work.ts';
import { contents, type Exported, exportedColumns, exportRows, withContents } from './export.ts';

const titles: Readonly<Record<(typeof contents)[number], string>> = {
  inputs: 'Inputs',
  output: 'Output',
  attributes: 'Attributes',
  exception: 'Exception, with its stack trace',
};

/** How many rows a list has; undefined while nobody knows, and where only the page can tell. */
const useCount = (list: CallList): number | undefined => {
  const { rows, complete } = list.store.getState();
  const isCounted = !complete && !list.options.costTest && !list.request.include_feedback;
  const { data } = useRead(
    ['count', list.number],
    ({ client, signal }) => client.ask('/calls/query_stats', countRequest(list.request), signal),
    { enabled: isCounted },
  );
  return complete ? rows.length : data?.count;
};

const progressText = (read: number, lookedUp?: number): string =>
  lookedUp === undefined ? countText(read) : `${countText(lookedUp)} of ${countText(read)}`;

interface ExportDialogProps {
  readonly list: CallList;
  readonly open: boolean;
  readonly onClose: () => void;
}

const ExportForm = ({ list, onClose }: Omit<ExportDialogProps, 'open'>) => {
  const { client } = useSession();
  const [form, setForm] = useState<Exported['form']>('jsonl');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const { doing: progress, error, run, stop } = useWork();
  const count = useCount(list);
  const options = withContents(list.options, chosen);
  const save = () =>
    run(
      async ({ signal, say }) => {
        const onProgress: Exported['onProgress'] = (...counts) => say(progressText(...counts));
        const blob = await exportRows({ ...options, client, form, onProgress, signal });
        saveFile(blob, `${list.request.project_id.replace('/', '-')}-calls.${form}`);
        onClose();
      },
      { failed: 'Nothing was saved.' },
    );
  return (
    <div className="stack">
      <p>
        {count === undefined ? 'All calls that match' : countedText(count, 'call')}, also those that are not
        on the screen.
      </p>
      <Segments fit legend="Form" value={form} options={forms} onChange={setForm} />
      <fieldset className="plain-set">
        <legend>Full contents (large file)</legend>
        {contents.map((column) => (
          <Check
            key={column}
            label={titles[column]}
            checked={chosen.includes(column)}
            onChange={(checked) =>
              setChosen(checked ? [...chosen, column] : chosen.filter((other) => other !== column))
            }
          />
        ))}
      </fieldset>
      <p className="hint break">
        Columns: <code>{exportedColumns(options).join(', ')}</code>
      </p>
      {error ? <Notice kind="error">{error}</Notice> : null}
      <div className="row-end">
        {progress === undefined ? (
          <Button kind="primary" onClick={save}>
            Save
          </Button>
        ) : (
          <Button onClick={stop}>
            Stop the export <span className="muted">{progress}</span>
          </Button>
        )}
      </div>
    </div>
  );
};

/** Saves all rows of the list, and says beforehand what it holds. */
export const ExportDialog = ({ list, open, onClose }: ExportDialogProps) => (
  <Modal title="Export" open={open} onClose={onClose}>
    <ExportForm list={list} onClose={onClose} />
  </Modal>
);
