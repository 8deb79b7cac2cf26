import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { onceInRun } from '../../support/run/once-in-run.ts';

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'pennytrace-once-'));
});
afterEach(() => rmSync(place, { recursive: true }));

it('A folder is made once, and whole for all who ask', async () => {
  const folder = join(place, 'made');
  let made = 0;
  const asked = Array.from({ length: 5 }, async () => {
    await onceInRun(folder, async (unfinished) => {
      made++;
      await sleep(100);
      writeFileSync(join(unfinished, 'text'), 'whole');
    });
    return readFileSync(join(folder, 'text'), 'utf8');
  });
  expect(await Promise.all(asked)).toEqual(Array(5).fill('whole'));
  expect(made).toBe(1);
  expect(readdirSync(place)).toEqual(['made']);
});

it('A folder that could not be made is tried again by the next who asks', async () => {
  const folder = join(place, 'made');
  const failing = onceInRun(folder, (unfinished) => {
    writeFileSync(join(unfinished, 'half'), '');
    throw new Error('no room');
  });
  await expect(failing).rejects.toThrow('no room');
  expect(readdirSync(place)).toEqual([]);
  await onceInRun(folder, (unfinished) => writeFileSync(join(unfinished, 'text'), 'whole'));
  expect(readdirSync(folder)).toEqual(['text']);
});
