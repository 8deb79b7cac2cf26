/** The dialects of the service: its own, and that of Weave's server, which Weave's SDKs speak. */
export const dialects = ['svc', 'weave'] as const;
export type Dialect = (typeof dialects)[number];

/**
 * Every name on the wire that holds the service's name. Nothing else in the code spells that name.
 */
export interface WireNames {
  /** Which requests there are, and what they mean. */
  readonly dialect: Dialect;
  /** The service's name, which is also the key of its block in a call's summary: `svc`. */
  readonly service: Dialect;
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

/** The dialect that a function's environment names; the service's own if it names none. */
export const dialectOf = (name: string | undefined): Dialect =>
  dialects.find((dialect) => dialect === name) ?? 'svc';

/** The wire names of a dialect, which the service is called like: Weave's SDKs expect their names. */
export const wireNames = (dialect: Dialect = 'svc'): WireNames => {
  // Weave's server calls the fields of users and runs after Weights & Biases.
  const own = dialect === 'weave' ? 'wb' : dialect;
  return {
    dialect,
    service: dialect,
    refScheme: `${dialect}:///`,
    ref: `${dialect}_ref`,
    userId: `${own}_user_id`,
    runId: `${own}_run_id`,
    runStep: `${own}_run_step`,
    runStepEnd: `${own}_run_step_end`,
    userIds: `${own}_user_ids`,
    runIds: `${own}_run_ids`,
    otelProject: `${dialect}.project_id`,
  };
};
