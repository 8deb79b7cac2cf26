import { useState } from 'react';
import { wordsOf } from '../../api/errors.ts';
import type { CallsQueryReq } from '../../api/types.ts';
import { useSession } from '../../session/session.tsx';
import { Menu } from '../../ui/menu.tsx';
import { saveFile } from '../../ui/save-file.ts';

const forms = [
  { label: 'JSON Lines', accept: 'application/jsonl', end: 'jsonl' },
  { label: 'CSV', accept: 'text/csv', end: 'csv' },
] as const;

interface ExportMenuProps {
  readonly request: CallsQueryReq;
  readonly onError: (message: string) => void;
}

/** Saves all calls of the list, those included that are not on the screen yet. */
export const ExportMenu = ({ request, onError }: ExportMenuProps) => {
  const { client } = useSession();
  const [busy, setBusy] = useState(false);
  const save = async ({ accept, end }: (typeof forms)[number]) => {
    setBusy(true);
    try {
      const blob = await client.download('POST /calls/stream_query', request, accept);
      saveFile(blob, `${request.project_id.replace('/', '-')}-calls.${end}`);
    } catch (error) {
      onError(`Nothing was saved. ${wordsOf(error)}`);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Menu
      label={busy ? 'Exporting…' : 'Export'}
      items={forms.map((form) => ({ label: form.label, onSelect: () => save(form) }))}
    />
  );
};
