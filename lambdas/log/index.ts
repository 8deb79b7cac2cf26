export type { LineFields, LoggedError, LoggedProblem, Outcome } from './fields.ts';
export { type Details, RequestLog, type Subject } from './request-log.ts';
