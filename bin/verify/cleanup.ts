import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { type Grant, type Key, makeKey, newRecord, putKey } from '../../foundations/auth/index.ts';
import type { Table } from '../../foundations/storage/index.ts';
import { ask, must, readJson, readText, type Target } from './check.ts';

/** Makes keys. Disposal deletes them all. */
export const keyMaker = (table: Table) => {
  const made: Key[] = [];
  return {
    make: async (some: readonly Grant[], seconds: number): Promise<Key> => {
      const now = Date.now() * 1000;
      const key = makeKey();
      const expiresAt = now + seconds * 1_000_000;
      await putKey(table, newRecord(key, { user: 'verify', grants: some, expiresAt }, now));
      made.push(key);
      return key;
    },
    [Symbol.asyncDispose]: async () => {
      for (const { id } of made)
        await table.client.send(new DeleteCommand({ TableName: table.name, Key: { id } }));
    },
  };
};

/** Deletes what the run has stored. */
export const remove = async (target: Target): Promise<void> => {
  const { project } = target;
  const ids: string[] = [];
  const all = await readText(
    await ask(target, '/calls/stream_query', { body: { project_id: project, columns: ['id'] } }),
  );
  for (const line of all.split('\n').filter(Boolean)) ids.push((JSON.parse(line) as { id: string }).id);
  const records = (await readJson(
    await ask(target, '/feedback/query', { body: { project_id: project, fields: ['id'] } }),
  )) as { result: { id: string }[] };
  const purged = records.result.map(({ id }) => ({ $eq: [{ $getField: 'id' }, { $literal: id }] }));
  if (purged.length > 0)
    await readText(
      await ask(target, '/feedback/purge', {
        body: { project_id: project, query: { $expr: { $or: purged } } },
      }),
    );
  const { objs } = (await readJson(
    await ask(target, '/objs/query', { body: { project_id: project, metadata_only: true } }),
  )) as { objs: { object_id: string }[] };
  for (const object_id of new Set(objs.map((obj) => obj.object_id)))
    await readText(await ask(target, '/obj/delete', { body: { project_id: project, object_id } }));
  for (let i = 0; i < ids.length; i += 100)
    await readText(
      await ask(target, '/calls/delete', { body: { project_id: project, call_ids: ids.slice(i, i + 100) } }),
    );
  const left = await readText(await ask(target, '/calls/stream_query', { body: { project_id: project } }));
  must(left === '', 'calls are left', 'run it again: they are deleted then');
};
