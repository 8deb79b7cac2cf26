export type { LineFields, LoggedError, LoggedFault, Outcome } from './fields.ts';
export { type Details, RequestLog, type Subject } from './request-log.ts';
