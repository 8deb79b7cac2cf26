import type { Kind } from '../api/kind.ts';

/** Lines in a square of 16, drawn: not every device has a font with such signs. */
const paths: Readonly<Record<Kind, string>> = {
  agent: 'M4 7h8v6H4zM8 7V3.5M6.5 3.5h3M6.4 9.8v.6M9.6 9.8v.6M2 9v2M14 9v2',
  workflow: 'M2 3h4v4H2zM10 3h4v4h-4zM6 9h4v4H6zM6 5h4M4 7v4h2M12 7v4h-2',
  model: 'M8 2l1.6 4.4L14 8l-4.4 1.6L8 14l-1.6-4.4L2 8l4.4-1.6z',
  tool: 'M10.6 2.6a3.4 3.4 0 0 0-4 4.6L2.4 11.4l2.2 2.2 4.2-4.2a3.4 3.4 0 0 0 4.6-4l-2.2 2.2-2-.4-.4-2z',
  retriever: 'M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9zM10.3 10.3L14 14',
  embedding: 'M3 3h2v2H3zM7 7h2v2H7zM11 3h2v2h-2zM3 11h2v2H3zM11 11h2v2h-2z',
  plan: 'M2.5 4l1 1 1.8-2M2.5 8.2l1 1 1.8-2M2.5 12.4l1 1 1.8-2M7.5 4.2H14M7.5 8.4H14M7.5 12.6H14',
  memory: 'M3 4.5c0-2.6 10-2.6 10 0v7c0 2.6-10 2.6-10 0zM3 4.5c0 2.4 10 2.4 10 0M3 8c0 2.4 10 2.4 10 0',
  guardrail: 'M8 1.8l5.2 2v4c0 3.2-2.2 5.4-5.2 6.6c-3-1.2-5.2-3.4-5.2-6.6v-4z',
  evaluator:
    'M8 2.2v11.6M5 13.8h6M2.6 4.2h10.8M4 4.2L2 9.2c.6 1.6 3.4 1.6 4 0zM12 4.2l-2 5c.6 1.6 3.4 1.6 4 0z',
  other: 'M8 5a3 3 0 1 0 0 6a3 3 0 1 0 0-6z',
};

/** What a call stands for, by a sign, a word and a color. */
export const KindIcon = ({ kind }: { kind: Kind }) => (
  <svg
    className="kind"
    data-kind={kind}
    viewBox="0 0 16 16"
    width="14"
    height="14"
    role="img"
    aria-label={kind}
  >
    <path d={paths[kind]} />
  </svg>
);
