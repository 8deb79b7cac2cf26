import { alert } from '../../../api/alerts.ts';
import type { ParseAlert } from '../../../core/workers/alerts/alert.ts';
import { makeParser } from '../../../foundations/wire/schema.ts';

/** Reads the value of an alert. */
export const parseAlert: ParseAlert = makeParser(alert());
