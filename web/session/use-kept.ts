import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
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
  // The cache tells of a change a moment later, which would have a checkbox jump back and forth.
  const [latest, setLatest] = useState<{ readonly of: string; readonly value: Value }>();
  const keep = useCallback(
    (value: Value) => {
      cache.setQueryData([name, key_id, of], { value });
      setLatest({ of, value });
    },
    [cache, name, key_id, of],
  );
  if (latest?.of === of) return [latest.value, keep];
  return [data ? data.value : first, keep];
};
