/** The service's name in Weave's dialect, and in no other: the setting `serviceName` sees to it. */
const weave = 'weave';

/**
 * What fields of users and runs begin with: the service's name, or `wb` after Weights & Biases in
 * Weave's dialect.
 */
export const prefixOf = (service: string): string => (service === weave ? 'wb' : service);
