import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { SynthesisFailed, synthesize } from '../../../local/assembly.ts';
import { requires } from '../../support/run/requirements.ts';

const folder = mkdtempSync(join(tmpdir(), 'pennytrace-synthesize-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The ids of the processes that have a text in their environment. */
const processesWith = (text: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(text);
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });

it('The app’s complaint is the error message', async () => {
  const failed = synthesize(folder, { settings: { shards: 3 } });
  await expect(failed).rejects.toThrow(
    /^the stack does not synthesize:\nsetting shards is 3: write a power of two/,
  );
  await expect(failed).rejects.toBeInstanceOf(SynthesisFailed);
});

it(
  'A cancelled synthesis ends with the reason, and leaves no process',
  requires('/proc, which Linux has'),
  async () => {
    const outdir = join(folder, 'given-up');
    const ending = new AbortController();
    const synthesis = synthesize(outdir, { signal: ending.signal });
    synthesis.catch(() => {});
    await expect.poll(() => processesWith(outdir)).not.toEqual([]);
    await sleep(200);
    ending.abort(new Error('enough'));
    await expect(synthesis).rejects.toThrow('enough');
    expect(processesWith(outdir)).toEqual([]);
    await expect(synthesize(outdir, { signal: ending.signal })).rejects.toThrow('enough');
    expect(readdirSync(folder)).toEqual([]);
  },
);
