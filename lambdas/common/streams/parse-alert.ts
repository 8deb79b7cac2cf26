import { alert } from '../../../api/alerts.ts';
import type { ParseAlert } from '../../../core/workers/alerts/alert.ts';

const schema = alert();

/** Reads the value of an alert. */
export const parseAlert: ParseAlert = (value) => {
  const result = schema.safeParse(value);
  return result.success ? result.data : undefined;
};
