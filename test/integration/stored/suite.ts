import { beforeAll, describe, expect, it } from 'vitest';
import { type InProcess, startInProcess } from '../../support/in-process.ts';
import { comparable, withChanges } from '../../support/stored/compare.ts';
import {
  exchange,
  readAt,
  rereadAt,
  rewrittenAt,
  type StoredAnswer,
  type StoredRequest,
  writtenAt,
} from '../../support/stored/exchange.ts';
import { readStored } from '../../support/stored/files.ts';
import { authorizeKeys, writeKeys } from '../../support/stored/keys.ts';
import type { StoredSet } from '../../support/stored/sets.ts';
import { clearStores, type Entry, restoreSnapshot, takeSnapshot } from '../../support/stored/snapshot.ts';

/** Tests today's code against a data set that earlier code wrote; test/support/stored/README.md. */
export const testStoredSet = (set: StoredSet): void => {
  let service: InProcess;
  /** Whether frames are compared byte by byte: another version of zstd makes others. */
  let sameZstd = false;
  beforeAll(async () => {
    service = await startInProcess(set.environment);
    sameZstd = (await readStored(set.name, 'zstd')).includes(process.versions.zstd ?? '');
  });

  const expectStored = async (expected: readonly Entry[]): Promise<void> => {
    const found = await takeSnapshot(service.stores);
    expect(comparable(found, sameZstd)).toEqual(comparable(expected, sameZstd));
  };

  const expectAnswers = async (
    requests: readonly StoredRequest[],
    startMs: number,
    expected: readonly StoredAnswer[],
  ): Promise<void> => {
    const answers = await exchange(service, requests, startMs);
    for (const [i, answer] of answers.entries()) expect(answer).toEqual(expected[i]);
    expect(answers.length).toBe(expected.length);
  };

  const testWriting = (): void => {
    it('is stored byte by byte as before', async () => {
      await expectAnswers(set.writes, writtenAt, await readStored(set.name, 'written'));
      if (set.keys) await writeKeys(service.stores);
      await expectStored(await readStored(set.name, 'items'));
    });
  };

  const testReading = (): void => {
    it('is answered as before', async () => {
      await clearStores(service.stores);
      await restoreSnapshot(service.stores, await readStored(set.name, 'items'));
      await expectAnswers(set.reads, readAt, await readStored(set.name, 'read'));
    });
  };

  const testKeys = (): void => {
    it('lets the same keys in', async () => {
      expect(await authorizeKeys(service.stores)).toEqual(await readStored(set.name, 'authorized'));
    });
  };

  const testRewriting = (): void => {
    it('becomes what it became before when it is written over', async () => {
      await expectAnswers(set.rewrites, rewrittenAt, await readStored(set.name, 'rewritten'));
      const [changes] = await readStored(set.name, 'changes');
      if (!changes) throw new Error(`the set ${set.name} has no changes`);
      await expectStored(withChanges(await readStored(set.name, 'items'), changes));
    });

    it('is answered as before once it is written over', async () => {
      await expectAnswers(set.rereads, rereadAt, await readStored(set.name, 'reread'));
    });
  };

  describe(set.title, () => {
    if (set.current) testWriting();
    testReading();
    if (set.keys) testKeys();
    testRewriting();
  });
};
