import { describe, expect, it } from 'vitest';
import { sumMarks, tagIn, tagType } from '../../../../web/api/feedback.ts';
import {
  hasTag,
  parseScorePath,
  saidPath,
  scorePath,
  scoreText,
  tagAt,
  tagsOf,
} from '../../../../web/calls/scores.ts';

const record = (feedback_type: string, payload: object) => ({ feedback_type, payload }) as never;

describe('a score', () => {
  it('is where feedback of its type says it', () => {
    expect(['thumbs', 'score', 'note', 'evaluation.helpful', 'toString'].map(saidPath)).toEqual([
      'feedback.[thumbs].payload.up',
      'feedback.[score].payload.score',
      'feedback.[note].payload.note',
      'feedback.[evaluation.helpful].payload.value',
      'feedback.[toString].payload.value',
    ]);
  });

  it('is called as its evaluator or its type, with the field if that is another', () => {
    const texts = [saidPath('thumbs'), scorePath('evaluation.helpful'), 'feedback.[thumbs].payload.note'];
    expect(texts.map((path) => scoreText(parseScorePath(path) ?? { type: '', field: '' }))).toEqual([
      'thumbs',
      'helpful',
      'thumbs note',
    ]);
  });
});

describe('a tag of people', () => {
  it('is a type of feedback, which a condition names', () => {
    expect(tagIn(tagType('refund case'))).toBe('refund case');
    expect(['tag.', 'tags', 'note'].map(tagIn)).toEqual([undefined, undefined, undefined]);
    expect(hasTag('a.b')).toEqual({ path: 'feedback.[tag.a.b].payload.value', op: 'is', value: 'true' });
    expect([tagAt(hasTag('a.b').path), tagAt(scorePath('score')), tagAt('tags')]).toEqual([
      'a.b',
      undefined,
      undefined,
    ]);
  });

  it('stands behind those that were reported, each once', () => {
    const call = {
      attributes: { tags: ['vip', 7, 'late'] },
      summary: {
        svc: {
          feedback: [
            record('tag.late', { value: true }),
            record('tag.refund', { value: true }),
            record('tag.refund', { value: true }),
            record('tag.no', { value: false }),
            record('score', { score: 1 }),
          ],
        },
      },
    };
    expect(tagsOf(call as never)).toEqual(['vip', 'late', 'refund']);
    expect(tagsOf({ attributes: { tags: 'vip' } } as never)).toEqual([]);
  });

  it('is no other feedback among the marks of a call', () => {
    expect(sumMarks([record('tag.late', { value: true }), record('odd', {})]).others).toBe(1);
  });
});
