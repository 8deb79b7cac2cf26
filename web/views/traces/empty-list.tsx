import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import type { TracesSearch } from './search.ts';

const isFiltered = ({ range, from, to, status, text, where, feedback }: TracesSearch): boolean =>
  [range, from, to, status, text, where, feedback].some((part) => part !== undefined);

/** A list without rows: what hides them all, or how to report the first. */
export const EmptyList = ({ search, onClear }: { search: TracesSearch; onClear: () => void }) =>
  isFiltered(search) ? (
    <Notice kind="info" action={<Button onClick={onClear}>Remove all filters</Button>}>
      Nothing matches these filters.
    </Notice>
  ) : (
    <Notice kind="info">
      {search.project} has no calls yet. Report one to <code>POST /call/start</code>, and it appears here.
    </Notice>
  );
