/** The package's face: the service as a construct for any CDK app. */
export { Pennytrace } from './pennytrace.ts';
export type {
  AnalyticsOptions,
  BillingOptions,
  DomainOptions,
  EventsOptions,
  InferenceModel,
  InferenceUpstream,
  LimitsOptions,
  PennytraceProps,
  PrivateOptions,
} from './props.ts';
export type { ReportOptions, RoleReportOptions } from './report-key.ts';
