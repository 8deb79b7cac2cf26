import type { ObjectVersion } from '../../api/contract.ts';
import { isObject } from '../../data/values.ts';
import { useRead } from '../../session/session.tsx';
import { readObjects, useStoreObject } from '../../session/stored.ts';
import type { Numbers } from './numbers.ts';

/*
 * Settings of a project that are an object of a class, of which there is one: `limits`, `retention`. Without the
 * object there is no setting.
 */

const numbersIn = <Field extends string>(
  { val }: Pick<ObjectVersion, 'val'>,
  fields: readonly Field[],
): Numbers<Field> => {
  const found: Partial<Record<Field, number>> = {};
  for (const field of fields) {
    const value = isObject(val) ? val[field] : undefined;
    if (typeof value === 'number') found[field] = value;
  }
  return found;
};

/** The setting as it is stored, `{}` for none, and what changes it. */
export const useStoredObject = <Field extends string>(
  project: string,
  { id, className, fields }: { id: string; className: string; fields: readonly Field[] },
) => {
  const query = useRead(['setting', project, id], async (reading): Promise<Numbers<Field>> => {
    const [version] = await readObjects(reading, project, {
      filter: { object_ids: [id], latest_only: true },
    });
    return version ? numbersIn(version, fields) : ({} as Numbers<Field>);
  });
  const { save, remove } = useStoreObject<object>(project, ['setting', 'objects', 'me']);
  const store = async (numbers: Numbers<Field>): Promise<void> => {
    const isThere = Object.keys(query.data ?? {}).length > 0;
    if (Object.keys(numbers).length > 0)
      await save.mutateAsync({ id, value: { _type: className, ...numbers } });
    else if (isThere) await remove.mutateAsync(id);
  };
  return { query, store };
};
