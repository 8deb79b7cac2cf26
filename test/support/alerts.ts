/** The value of an alert about the share of calls that failed. */
export const errorRate = (fields: object = {}) => ({
  _type: 'Alert',
  name: 'Too many errors',
  metric: { metric: 'error_count', aggregation: 'avg' },
  window_minutes: 5,
  direction: 'above',
  warn: 0.1,
  alert: 0.5,
  tell: [{ sns: true }],
  enabled: true,
  ...fields,
});

/** The value of an alert about what feedback of a type says at `value`. */
export const meanScore = (feedback_type: string, fields: object = {}) => ({
  ...errorRate(),
  name: 'Poor answers',
  metric: { feedback_type, path: 'value', aggregation: 'avg' },
  direction: 'below',
  warn: null,
  ...fields,
});
