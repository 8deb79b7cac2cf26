import { it } from 'vitest';
import { startInProcess } from '../in-process.ts';
import { changesOf } from './compare.ts';
import { exchange, readAt, rereadAt, rewrittenAt, writtenAt } from './exchange.ts';
import { readStored, writeStored } from './files.ts';
import { authorizeKeys, writeKeys } from './keys.ts';
import { expiringSet, keptSet, listsSet, type StoredSet, version1Set, version3Set } from './sets.ts';
import { restoreSnapshot, takeSnapshot } from './snapshot.ts';

/*
 * Makes the files of one data set, STORED_SET, with the code that it runs beside. STORED_STEP is
 * `write` for what is written to empty stores, `read` for what then becomes of it.
 */

const { STORED_SET, STORED_STEP } = process.env;
const set = [keptSet, listsSet, expiringSet, version1Set, version3Set].find(
  ({ name }) => name === STORED_SET,
);

const write = async ({ name, environment, current, keys, writes }: StoredSet): Promise<void> => {
  const service = await startInProcess(environment);
  const answers = await exchange(service, writes, writtenAt);
  if (current) await writeStored(name, 'written', answers);
  if (keys) await writeKeys(service.stores);
  await writeStored(name, 'items', await takeSnapshot(service.stores));
  await writeStored(name, 'zstd', [process.versions.zstd ?? '']);
};

const read = async ({ name, environment, keys, reads, rewrites, rereads }: StoredSet): Promise<void> => {
  const service = await startInProcess(environment);
  const items = await readStored(name, 'items');
  await restoreSnapshot(service.stores, items);
  await writeStored(name, 'read', await exchange(service, reads, readAt));
  if (keys) await writeStored(name, 'authorized', await authorizeKeys(service.stores));
  await writeStored(name, 'rewritten', await exchange(service, rewrites, rewrittenAt));
  await writeStored(name, 'changes', [changesOf(items, await takeSnapshot(service.stores))]);
  await writeStored(name, 'reread', await exchange(service, rereads, rereadAt));
};

it(`makes ${STORED_SET} by ${STORED_STEP}`, async () => {
  if (!set) throw new Error(`STORED_SET is ${STORED_SET}`);
  await (STORED_STEP === 'write' ? write(set) : read(set));
});
