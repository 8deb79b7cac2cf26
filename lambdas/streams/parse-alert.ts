import { alert } from '../../api/alerts.ts';
import type { ParseAlert } from '../../core/workers/alerts/alert.ts';
import { schemaInDialect } from '../http/dialect.ts';

const schema = schemaInDialect(alert());

/** Reads the value of an alert in the dialect of the deployment. */
export const parseAlert: ParseAlert = (value) => {
  const result = schema.safeParse(value);
  return result.success ? result.data : undefined;
};
