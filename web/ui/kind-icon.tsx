import type { Kind } from '../api/kind.ts';

/** Lines in a square of 16, drawn: not every device has a font with such signs. */
const paths: Readonly<Record<Kind, string>> = {
  agent: 'M4 7h8v6H4zM8 7V3.5M6.5 3.5h3M6.4 9.8v.6M9.6 9.8v.6M2 9v2M14 9v2',
  model: 'M8 2l1.6 4.4L14 8l-4.4 1.6L8 14l-1.6-4.4L2 8l4.4-1.6z',
  tool: 'M10.6 2.6a3.4 3.4 0 0 0-4 4.6L2.4 11.4l2.2 2.2 4.2-4.2a3.4 3.4 0 0 0 4.6-4l-2.2 2.2-2-.4-.4-2z',
  retriever: 'M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9zM10.3 10.3L14 14',
  embedding: 'M3 3h2v2H3zM7 7h2v2H7zM11 3h2v2h-2zM3 11h2v2H3zM11 11h2v2h-2z',
  other: 'M8 5a3 3 0 1 0 0 6a3 3 0 1 0 0-6z',
};

/** What a call stands for, by a sign, a word and a color. */
export const KindIcon = ({ kind }: { kind: Kind }) => (
  <svg className={`kind ${kind}`} viewBox="0 0 16 16" width="14" height="14" role="img" aria-label={kind}>
    <path d={paths[kind]} />
  </svg>
);
