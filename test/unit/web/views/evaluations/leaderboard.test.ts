import { describe, expect, it } from 'vitest';
import { boardIn, toRows } from '../../../../../web/views/evaluations/leaderboard.ts';

const ref = 'weave:///acme/shop/object/ranked:e1';
const model = (name: string) => `weave:///acme/shop/op/${name}:v1`;

const call = (id: string, self: string, model: string, output: object) => ({
  id,
  inputs: { self, model },
  output,
});

const board = boardIn({
  _type: 'Leaderboard',
  name: 'ranks',
  columns: [
    { evaluation_object_ref: ref, scorer_name: 'right', summary_metric_path: 'true_fraction' },
    {
      evaluation_object_ref: 'weave:///acme/shop/object/ranked:*',
      scorer_name: 'model_latency',
      summary_metric_path: 'mean',
      should_minimize: true,
    },
    { scorer_name: 'of nothing' },
  ],
});

describe('a leaderboard', () => {
  it('has the latest figures of each model, the best first', () => {
    if (!board) throw new Error('no board');
    const output = (fraction: number, latency: number) => ({
      right: { true_count: 1, true_fraction: fraction },
      model_latency: { mean: latency },
    });
    const rows = toRows(board, [
      call('newest', ref, model('slow'), output(0.5, 9)),
      call('other version', 'weave:///acme/shop/object/ranked:e2', model('fast'), output(1, 1)),
      call('of another', 'weave:///acme/shop/object/unranked:e1', model('third'), output(1, 1)),
      call('older', ref, model('slow'), output(1, 2)),
      call('good', ref, model('good'), output(0.9, 3)),
    ]);
    expect(board.columns.map(({ title }) => title)).toEqual([
      'ranked right.true_fraction',
      'ranked model_latency.mean',
    ]);
    expect(rows).toEqual([
      {
        model: model('good'),
        values: [
          { score: 0.9, run: 'good' },
          { score: 3, run: 'good' },
        ],
      },
      {
        model: model('slow'),
        values: [
          { score: 0.5, run: 'newest' },
          { score: 9, run: 'newest' },
        ],
      },
      { model: model('fast'), values: [undefined, { score: 1, run: 'other version' }] },
    ]);
  });

  it('is none without columns', () => {
    expect(boardIn({ name: 'ranks' })).toBeUndefined();
    expect(boardIn('ranks')).toBeUndefined();
  });
});
