import type { ErrorComponentProps } from '@tanstack/react-router';
import { wordsOf } from '../api/errors.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';

/** What stands where a view broke. Mostly one of its files is gone, since the page was updated. */
export const FailedView = ({ error }: ErrorComponentProps) => (
  <main className="center">
    <Notice kind="error" action={<Button onClick={() => location.reload()}>Load the page again</Button>}>
      This view could not be shown. Check the connection: a part of the page may not have been loaded. It may
      also have been updated since it was opened. ({wordsOf(error)})
    </Notice>
  </main>
);
