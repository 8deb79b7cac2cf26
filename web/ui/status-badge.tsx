import type { Status } from '../api/calls.ts';

const texts: Readonly<Record<Status, string>> = {
  success: 'ok',
  error: 'error',
  descendant_error: 'error below',
  running: 'running',
};

const signs: Readonly<Record<Status, string>> = {
  success: '✓',
  error: '✕',
  descendant_error: '!',
  running: '…',
};

/** The state of a call, by sign, word and color: none of them alone. */
export const StatusBadge = ({ status }: { status: Status }) => (
  <span className={`badge ${status}`}>
    <span aria-hidden="true">{signs[status]}</span> {texts[status]}
  </span>
);
