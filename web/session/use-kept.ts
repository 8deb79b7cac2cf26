import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useSession } from './session.tsx';

/**
 * A state that outlives its view as long as what was read does, so that whoever comes back finds
 * it. Signing out removes it.
 *
 * @param name its name, and what it belongs to
 */
export const useKept = <Value>(
  name: string,
  of: string,
  first: Value,
): readonly [Value, (next: Value) => void] => {
  const { me } = useSession();
  const cache = useQueryClient();
  const { key_id } = me;
  const { data } = useQuery<{ value: Value }>({
    queryKey: [name, key_id, of],
    enabled: false,
    initialData: { value: first },
  });
  const keep = useCallback(
    (value: Value) => {
      cache.setQueryData([name, key_id, of], { value });
    },
    [cache, name, key_id, of],
  );
  return [data ? data.value : first, keep];
};
