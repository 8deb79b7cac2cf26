import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import {
  advice,
  countRecorded,
  differences,
  type RecordedFigures,
  readRecorded,
  toRecorded,
  updated,
} from '../../../bench/guard.ts';
import { openBench, totalUnits } from '../../../bench/harness/bench.ts';
import { readCalls } from '../../../bench/harness/calls.ts';
import { sendAll } from '../../../bench/harness/reporting.ts';
import { root } from '../../support/run/project.ts';
import { assembly, bundlesFolder } from '../../support/stack/assembly.ts';

describe('what the service uses', () => {
  it('equals bench/figures.json', async () => {
    await using bench = await openBench({
      dynamodb: inject('stores').dynamodb,
      assembly: assembly(),
      bundles: bundlesFolder(),
    });
    const changes = differences(readRecorded(), toRecorded(await countRecorded(bench)));
    expect(changes, `${changes.join('\n')}\n${advice}\n`).toEqual([]);
  });
});

it.each(['together', 'whole', 'apart'] as const)(
  'The calls of a real agent in the repository can be reported %s',
  async (mode) => {
    await using bench = await openBench({ dynamodb: inject('stores').dynamodb, assembly: assembly() });
    const calls = readCalls(join(root, 'bench/data/airline-agent-calls.jsonl.gz')).slice(0, 10);
    const store = await bench.newStore('calls');
    const { writes } = await bench.capacity.during(() => sendAll(store, calls, mode));
    expect(totalUnits(writes)).toBeGreaterThan(30);
  },
);

describe('recorded figures', () => {
  it('are the same for calls that are reported whole as for starts and ends together', () => {
    const recorded = Object.entries(readRecorded());
    const unitsByMode = (mode: string) =>
      recorded.filter(([name]) => name.startsWith(`writes: ${mode}: write units`));
    expect(unitsByMode('whole').map(([, figure]) => figure)).toEqual(
      unitsByMode('together').map(([, figure]) => figure),
    );
    expect(unitsByMode('whole').length).toBeGreaterThan(3);
  });

  const before: RecordedFigures = { 'a: units': [3, 'units a call'], 'a: size': [1000, 'bytes'] };

  it('have no differences if nothing changed', () => {
    expect(differences(before, before)).toEqual([]);
  });

  it('may not grow or shrink by a unit', () => {
    expect(differences(before, { ...before, 'a: units': [3.1, 'units a call'] })).toEqual([
      'a: units: grew from 3 to 3.1 units a call',
    ]);
    expect(differences(before, { ...before, 'a: units': [2.9, 'units a call'] })).toEqual([
      'a: units: shrank from 3 to 2.9 units a call',
    ]);
  });

  it('may differ by a few bytes, which another zstd or esbuild makes', () => {
    expect(differences(before, { ...before, 'a: size': [1015, 'bytes'] })).toEqual([]);
    expect(differences(before, { ...before, 'a: size': [1030, 'bytes'] })).toEqual([
      'a: size: grew from 1000 to 1030 bytes',
    ]);
  });

  it('are recorded anew only beyond their tolerance, in the order in which they are counted', () => {
    const now: RecordedFigures = {
      'a: new': [1, 'units'],
      'a: size': [1015, 'bytes'],
      'a: units': [4, 'units a call'],
    };
    const written = updated({ ...before, 'a: gone': [1, 'units'] }, now);
    expect(Object.entries(written)).toEqual([
      ['a: new', [1, 'units']],
      ['a: size', [1000, 'bytes']],
      ['a: units', [4, 'units a call']],
    ]);
  });

  it('are listed when they are added or removed', () => {
    expect(differences({}, { 'a: units': [1, 'units'] })).toEqual(['a: units: is new, 1 units']);
    expect(differences({ 'a: units': [1, 'units'] }, {})).toEqual(['a: units: was 1 units and is gone']);
  });

  it('count what an index uses by itself', () => {
    const figure = { name: 'x', unit: 'units', runs: 1, median: 2, spread: 0, of: { table: 1, by_time: 1 } };
    expect(toRecorded({ writes: [figure] })).toEqual({
      'writes: x': [2, 'units'],
      'writes: x, table': [1, 'units'],
      'writes: x, by_time': [1, 'units'],
    });
  });
});
