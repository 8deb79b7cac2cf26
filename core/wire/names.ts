/**
 * Every name on the wire that holds the service's name. Nothing else in the code spells that name.
 */
export interface WireNames {
  /** The service's name, which is also the key of its block in a call's summary: `svc`. */
  readonly service: string;
  /** What every ref begins with: `svc:///`. */
  readonly refScheme: string;
  /** `svc_ref` */
  readonly ref: string;
  /** `svc_user_id` */
  readonly userId: string;
  /** `svc_run_id` */
  readonly runId: string;
  /** `svc_run_step` */
  readonly runStep: string;
  /** `svc_run_step_end` */
  readonly runStepEnd: string;
  /** `svc_user_ids` */
  readonly userIds: string;
  /** `svc_run_ids` */
  readonly runIds: string;
  /** The attribute of OpenTelemetry resources that names a project: `svc.project_id`. */
  readonly otelProject: string;
}

/** The service's name unless the setting gives one. */
export const defaultServiceName = 'svc';

/**
 * Derives all wire names from the service's name, e.g. `svc`: a lower-case letter, then letters or
 * digits.
 */
export const wireNames = (service: string): WireNames => ({
  service,
  refScheme: `${service}:///`,
  ref: `${service}_ref`,
  userId: `${service}_user_id`,
  runId: `${service}_run_id`,
  runStep: `${service}_run_step`,
  runStepEnd: `${service}_run_step_end`,
  userIds: `${service}_user_ids`,
  runIds: `${service}_run_ids`,
  otelProject: `${service}.project_id`,
});
