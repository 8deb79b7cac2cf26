import { describe, expect, it } from 'vitest';
import {
  computeChanges,
  differencesIn,
  findMeasures,
  isShown,
  joinRuns,
  meanIn,
  type RunRow,
  worstFirst,
} from '../../../../../web/views/evaluations/join.ts';

let ids = 0;

const row = (key: string, scores: Record<string, number>, more: Partial<RunRow> = {}): RunRow => ({
  id: `call-${ids++}`,
  key,
  inputs: key,
  expected: '',
  output: 'an answer',
  failed: false,
  scores: { numbers: new Map(Object.entries(scores)), texts: new Map() },
  latency: undefined,
  ...more,
});

const placeRows = (rows: ReturnType<typeof joinRuns>, less: readonly string[] = [], sort?: string) => {
  const measures = findMeasures(rows, less).filter(({ id, kind }) => (sort ? id === sort : kind === 'score'));
  const changes = computeChanges(rows, measures);
  return worstFirst(rows.map((row, at) => ({ row, place: at + 1, change: changes[at] })));
};

describe('the rows of evaluations', () => {
  it('stand beside each other by their example, with those that only one run has', () => {
    const rows = joinRuns([
      [row('a', { correct: 1 }), row('b', { correct: 1 })],
      [row('c', { correct: 0 }), row('a', { correct: 0 })],
    ]);
    expect(rows.map(({ key, cells }) => [key, cells.map((cell) => cell?.scores.get('correct'))])).toEqual([
      ['a', [1, 0]],
      ['b', [1, undefined]],
      ['c', [undefined, 0]],
    ]);
    expect(rows.filter((placed) => isShown(placed, undefined, 'only')).map(({ key }) => key)).toEqual([
      'b',
      'c',
    ]);
    // Means are of all rows of a run, differences of those that both have.
    const [correct] = findMeasures(rows, []);
    if (!correct) throw new Error('no measure');
    expect(meanIn(rows, 0, correct)).toEqual({ mean: 1, count: 2 });
    expect(differencesIn(rows, 1, correct)).toEqual([-1]);
  });

  it('have the mean of several trials', () => {
    const [joined] = joinRuns([
      [row('a', { correct: 1 }, { latency: 100 }), row('a', { correct: 0 }, { latency: 300, failed: true })],
    ]);
    expect(joined?.cells[0]).toMatchObject({ latency: 200, failed: true });
    expect(joined?.cells[0]?.scores.get('correct')).toBe(0.5);
    expect(joined?.cells[0]?.trials).toHaveLength(2);
  });

  it('come in the order of the worst change of any score, on whatever scale', () => {
    const before = { correct: 1, points: 50 };
    const rows = joinRuns([
      ['same', 'slightly', 'correct', 'lost', 'better'].map((key) =>
        row(key, key === 'better' ? { ...before, correct: 0 } : before),
      ),
      [
        row('same', before),
        row('slightly', { correct: 1, points: 40 }),
        row('correct', { correct: 0, points: 100 }),
        row('lost', {}, { output: '', failed: true }),
        row('better', before),
      ],
    ]);
    const keys = placeRows(rows).map(({ row: { key } }) => key);
    expect(keys).toEqual(['correct', 'lost', 'slightly', 'same', 'better']);
    const shown = (show: 'worse' | 'better' | 'failed') =>
      placeRows(rows)
        .filter(({ row: placed, change }) => isShown(placed, change, show))
        .map(({ row: { key } }) => key);
    expect(shown('worse')).toEqual(['correct', 'lost', 'slightly']);
    expect(shown('better')).toEqual(['correct', 'better']);
    expect(shown('failed')).toEqual(['lost']);
    // Where less is better, what fell is better.
    expect(placeRows(rows, ['score.points'], 'score.points').map(({ row: { key } }) => key)).toEqual([
      'lost',
      'correct',
      'same',
      'better',
      'slightly',
    ]);
  });

  it('of one evaluation alone come with the lowest scores first, after those that failed', () => {
    const rows = joinRuns([
      [row('good', { s: 1 }), row('bad', { s: 0.1 }), row('none', {}, { failed: true })],
    ]);
    expect(placeRows(rows).map(({ row: { key } }) => key)).toEqual(['none', 'bad', 'good']);
  });

  it('failed if they have no output and a call below them failed', () => {
    const silent = row('a', {}, { output: '' });
    const spoken = row('b', {});
    const figures = new Map([silent, spoken].map(({ id }) => [id, { usage: undefined, errors: 1 }]));
    const rows = joinRuns([[silent, spoken]], [figures]);
    expect(rows.map(({ cells }) => cells[0]?.failed)).toEqual([true, false]);
  });

  it('cost what their calls cost, if that is of one unit', () => {
    const a = row('a', {});
    const b = row('b', {});
    const usage = (cost: [string, number][]) => ({
      usage: { input: 1, output: 1, total: 2, cached: 0, reasoning: 0, cost: new Map(cost) },
    });
    const figures = new Map([
      [a.id, usage([['USD', 0.5]])],
      [
        b.id,
        usage([
          ['USD', 1],
          ['EUR', 1],
        ]),
      ],
    ]);
    const rows = joinRuns([[a, b]], [figures]);
    expect(rows.map(({ cells }) => cells[0]?.cost)).toEqual([0.5, undefined]);
    expect(findMeasures(rows, []).map(({ id }) => id)).toEqual(['cost']);
  });
});
