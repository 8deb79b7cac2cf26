import type { ReactNode } from 'react';
import type { Marks } from '../api/feedback.ts';
import { Thumb } from './thumb.tsx';

const scoreText = (score: number): string => String(Math.round(score * 100) / 100);

/** What feedback comes to, by signs that have words. */
export const FeedbackMarks = ({ marks }: { marks: Marks }) => {
  const { up, down, score, notes, corrections, others } = marks;
  const parts: readonly (readonly [ReactNode, string, string, boolean])[] = [
    [<Thumb key="up" up />, up > 1 ? String(up) : '', 'thumbs up', up > 0],
    [<Thumb key="down" up={false} />, down > 1 ? String(down) : '', 'thumbs down', down > 0],
    ['★', score === undefined ? '' : scoreText(score), 'score', score !== undefined],
    ['✎', notes > 1 ? String(notes) : '', 'note', notes > 0],
    ['↻', corrections > 1 ? String(corrections) : '', 'correction', corrections > 0],
    ['•', String(others), 'other feedback', others > 0],
  ];
  return (
    <span className="marks">
      {parts
        .filter(([, , , shown]) => shown)
        .map(([sign, text, name]) => (
          <span key={name} title={name}>
            <span role="img" aria-label={name}>
              {sign}
            </span>
            {text}
          </span>
        ))}
    </span>
  );
};
