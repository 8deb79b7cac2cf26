import type { Message } from '../../../core/workers/alerts/message.ts';

/** A message of an alert whose share of errors has passed its threshold. */
export const alertMessage = (fields: Partial<Message> = {}): Message => ({
  id: '5f0c1c1f3f9f4a6c8d2e7b9a0c1d2e3f',
  kind: 'changed',
  project_id: 'acme/shop',
  alert: { object_id: 'errors', name: 'Too many errors', digest: 'd1' },
  state: 'alert',
  previous: 'ok',
  metric: 'Error rate',
  value: 0.123456,
  threshold: 0.1,
  direction: 'above',
  compare: 'absolute',
  compared: null,
  window: { start: '2026-11-22T09:15:00.000000Z', end: '2026-11-22T09:30:00.000000Z' },
  contributors: [
    { label: 'checkout', value: 12, call_id: null, link: 'https://t.example/api/ui/traces?a=1' },
    { label: 'search', value: 1234.5, call_id: 'c-1', link: 'https://t.example/api/ui/trace?b=2' },
  ],
  link: 'https://t.example/api/ui/traces?from=x&to=y',
  at: '2026-11-22T09:31:02.000000Z',
  ...fields,
});
