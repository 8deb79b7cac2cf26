import { Link } from '@tanstack/react-router';
import { Notice } from '../ui/notice.tsx';

/** What stands at a path that no view has. */
export const MissingView = () => (
  <main className="center">
    <Notice kind="error" action={<Link to="/">Your projects</Link>}>
      There is nothing at this address. The link may be cut off.
    </Notice>
  </main>
);
