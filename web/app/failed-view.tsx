import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { RequestFailed, wordsOf } from '../api/errors.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';

const LoadAgain = () => <Button onClick={() => location.reload()}>Load the page again</Button>;

/** What stands where a view broke, or where it could not be loaded. */
export const FailedView = ({ error }: ErrorComponentProps) => {
  const router = useRouter();
  const retry = <Button onClick={() => void router.invalidate()}>Try again</Button>;
  return (
    <main className="center">
      {error instanceof RequestFailed ? (
        <Notice kind="error" action={retry}>
          {error.message}
        </Notice>
      ) : (
        <Notice kind="error" action={<LoadAgain />}>
          This view could not be shown. Check the connection: a part of the page may not have been loaded. It
          may also have been updated since it was opened. ({wordsOf(error)})
        </Notice>
      )}
    </main>
  );
};
