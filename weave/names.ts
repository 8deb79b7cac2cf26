/*
 * What our names are in Weave's dialect.
 */

const names: Readonly<Record<string, string>> = {
  svc: 'weave',
  svc_ref: 'weave_ref',
  // Weave's server calls the fields of users and runs after Weights & Biases.
  svc_user_id: 'wb_user_id',
  svc_run_id: 'wb_run_id',
  svc_run_step: 'wb_run_step',
  svc_run_step_end: 'wb_run_step_end',
  svc_user_ids: 'wb_user_ids',
  svc_run_ids: 'wb_run_ids',
};

/** A name in Weave's dialect. Most are the same. */
export const nameInWeave = (name: string): string => names[name] ?? name;

/** A text about names and refs, in Weave's dialect. */
export const textInWeave = (text: string): string =>
  text
    .replaceAll('svc:///', 'weave:///')
    .replaceAll(/\bsvc_\w+/g, nameInWeave)
    .replaceAll(/\bsvc\./g, 'weave.');
