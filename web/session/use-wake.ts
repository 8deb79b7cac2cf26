import { useEffect } from 'react';
import type { Wakeable } from '../api/wake.ts';
import { useSession } from './session.tsx';

/**
 * Wakes the functions that a view's next views will need, once its own requests are on their way.
 *
 * @param project undefined while it is not known
 */
export const useWake = (project: string | undefined, operations: readonly Wakeable[]): void => {
  const { client } = useSession();
  const wanted = operations.join();
  useEffect(() => {
    if (!project) return;
    for (const operation of wanted.split(',')) client.wake(operation as Wakeable, project);
  }, [client, project, wanted]);
};
