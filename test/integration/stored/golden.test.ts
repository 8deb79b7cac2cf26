import { beforeAll, describe, expect, it } from 'vitest';
import { type InProcess, startInProcess } from '../../support/service/in-process.ts';
import {
  exchange,
  readAt,
  readGolden,
  reads,
  rereadAt,
  rereads,
  rewrites,
  rewrittenAt,
  type StoredAnswer,
  type StoredRequest,
  writeGolden,
  writes,
  writtenAt,
} from '../../support/stored/golden.ts';
import { authorizeKeys, writeKeys } from '../../support/stored/keys.ts';
import {
  clearStores,
  comparable,
  type Entry,
  findChanges,
  restoreSnapshot,
  takeSnapshot,
  withChanges,
} from '../../support/stored/snapshot.ts';

/*
 * What is stored must stay readable. test/support/stored/README.md says how the files are made;
 * GOLDEN=write makes them anew.
 */
const isWriting = process.env.GOLDEN === 'write';

describe('what the service stores', () => {
  let service: InProcess;
  /** Whether frames are compared byte by byte: another version of zstd makes others. */
  let sameZstd = false;
  beforeAll(async () => {
    service = await startInProcess({});
    if (isWriting) await writeGolden('zstd', [process.versions.zstd ?? '']);
    sameZstd = (await readGolden('zstd')).includes(process.versions.zstd ?? '');
  });

  const expectAnswers = async (
    name: 'written' | 'read' | 'rewritten' | 'reread',
    requests: readonly StoredRequest[],
    startMs: number,
  ): Promise<void> => {
    const answers = await exchange(service, requests, startMs);
    if (isWriting) await writeGolden(name, answers);
    const expected: StoredAnswer[] = await readGolden(name);
    for (const [i, answer] of answers.entries()) expect(answer).toEqual(expected[i]);
    expect(answers.length).toBe(expected.length);
  };

  const expectStored = (found: readonly Entry[], expected: readonly Entry[]): void =>
    expect(comparable(found, sameZstd)).toEqual(comparable(expected, sameZstd));

  it('is the same byte by byte', async () => {
    await expectAnswers('written', writes, writtenAt);
    await writeKeys(service.stores);
    const found = await takeSnapshot(service.stores);
    if (isWriting) await writeGolden('items', found);
    expectStored(found, await readGolden('items'));
  });

  it('is answered as before', async () => {
    await clearStores(service.stores);
    await restoreSnapshot(service.stores, await readGolden('items'));
    await expectAnswers('read', reads, readAt);
  });

  it('lets the same keys in', async () => {
    const found = await authorizeKeys(service.stores);
    if (isWriting) await writeGolden('authorized', found);
    expect(found).toEqual(await readGolden('authorized'));
  });

  it('becomes what it became before when it is written over', async () => {
    await expectAnswers('rewritten', rewrites, rewrittenAt);
    const items = await readGolden('items');
    const found = await takeSnapshot(service.stores);
    if (isWriting) await writeGolden('changes', [findChanges(items, found)]);
    const [changes] = await readGolden('changes');
    if (!changes) throw new Error('the golden set has no changes');
    expectStored(found, withChanges(items, changes));
  });

  it('is answered as before once it is written over', async () => {
    await expectAnswers('reread', rereads, rereadAt);
  });
});
