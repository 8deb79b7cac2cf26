import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { RequestFailed, wordsOf } from '../api/errors.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';

/** What stands where a view broke, or where it could not be loaded. */
export const FailedView = ({ error }: ErrorComponentProps) => {
  const router = useRouter();
  return (
    <main className="center">
      {error instanceof RequestFailed ? (
        <Notice kind="error" action={<Button onClick={() => void router.invalidate()}>Try again</Button>}>
          {error.message}
        </Notice>
      ) : (
        <Notice kind="error" action={<Button onClick={() => location.reload()}>Load the page again</Button>}>
          This view could not be shown. Check the connection: a part of the page may not have been loaded. It
          may also have been updated since it was opened. ({wordsOf(error)})
        </Notice>
      )}
    </main>
  );
};
