import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutMentions, getComments, isComment, mentionsIn } from '../../../../web/api/comments.ts';
import type { CallFeedback } from '../../../../web/api/contract.ts';

const record = (fields: Partial<CallFeedback>): CallFeedback => ({
  id: 'r1',
  feedback_type: 'note',
  svc_ref: 'svc:///acme/shop/call/c',
  payload: { note: 'Hi' },
  creator: null,
  created_at: '2026-10-01T00:00:00.000000Z',
  svc_user_id: 'ada',
  ...fields,
});

const callWith = (...feedback: CallFeedback[]) => ({ summary: { svc: { feedback } } }) as never;

describe('comments', () => {
  it('are notes, by whoever wrote them, and keep their id when they are edited', () => {
    const edited = { note: 'Ho', comment: 'c1', edited: true, mentions: ['ben', 1] };
    const records = [
      record({}),
      record({ id: 'r2', creator: 'Eve', payload: edited }),
      record({ id: 'r3', feedback_type: 'thumbs', payload: { up: true, note: 'Good' } }),
      record({ id: 'r4', payload: { note: 7 } }),
    ];
    expect(getComments(callWith(...records))).toEqual([
      { id: 'r1', record: records[0], text: 'Hi', author: 'ada', mentions: [], isEdited: false },
      { id: 'c1', record: records[1], text: 'Ho', author: 'Eve', mentions: ['ben'], isEdited: true },
    ]);
    expect(records.map(isComment)).toEqual([true, true, false, false]);
  });
});

describe('mentions', () => {
  const people = ['ada', 'ada@example.com', 'ann', 'anna', 'j.doe', 'Zoë'];

  it.each([
    ['@ada', ['ada']],
    ['Look, @ada@example.com.', ['ada@example.com']],
    ['@anna and @ann!', ['anna', 'ann']],
    ['(@j.doe) @Zoë, @ada.', ['j.doe', 'Zoë', 'ada']],
    ['@ada @ada', ['ada']],
    ['ben@ada', []],
    ['@annabel @adam @ada.b @ada-b', []],
    ['@Ada', []],
    ['@', []],
  ])('in %s', (text, users) => {
    expect(mentionsIn(text, people)).toEqual(users);
  });

  it('cut a text into pieces that are the text again', () => {
    const part = fc.constantFrom(
      '@',
      'ada',
      'ann',
      'anna',
      ' ',
      '.',
      ',',
      '@ada',
      '\u{1f600}',
      '@example.com',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        const pieces = cutMentions(text, people);
        expect(pieces.map((piece) => ('user' in piece ? `@${piece.user}` : piece.text)).join('')).toBe(text);
      }),
    );
  });
});
