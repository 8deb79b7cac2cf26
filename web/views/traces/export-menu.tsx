import { useRef, useState } from 'react';
import { wordsOf } from '../../api/errors.ts';
import { countText } from '../../data/format.ts';
import { useSession } from '../../session/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Menu } from '../../ui/menu.tsx';
import { saveFile } from '../../ui/save-file.ts';
import type { CallList } from './call-list.ts';
import type { Exported } from './export-rows.ts';

const forms = [
  { label: 'JSON Lines', form: 'jsonl' },
  { label: 'CSV', form: 'csv' },
] as const;

interface ExportMenuProps {
  readonly list: CallList;
  readonly onError: (message: string | undefined) => void;
}

const progressText = (read: number, lookedUp?: number): string =>
  lookedUp === undefined ? countText(read) : `${countText(lookedUp)} of ${countText(read)}`;

/** Saves all rows of the list with what it shows, those included that are not on the screen yet. */
export const ExportMenu = ({ list, onError }: ExportMenuProps) => {
  const { client } = useSession();
  const [progress, setProgress] = useState<string>();
  const running = useRef<AbortController>(undefined);
  const save = async (form: Exported['form']) => {
    const ending = new AbortController();
    running.current = ending;
    setProgress('');
    onError(undefined);
    try {
      const { exportRows } = await import('./export-rows.ts');
      const onProgress: Exported['onProgress'] = (...counts) => setProgress(progressText(...counts));
      const blob = await exportRows({ ...list.options, client, form, onProgress, signal: ending.signal });
      saveFile(blob, `${list.request.project_id.replace('/', '-')}-calls.${form}`);
    } catch (error) {
      if (!ending.signal.aborted) onError(`Nothing was saved. ${wordsOf(error)}`);
    } finally {
      setProgress(undefined);
    }
  };
  if (progress !== undefined)
    return (
      <Button onClick={() => running.current?.abort()}>
        Stop the export <span className="muted">{progress}</span>
      </Button>
    );
  return (
    <Menu label="Export" items={forms.map(({ label, form }) => ({ label, onSelect: () => save(form) }))} />
  );
};
