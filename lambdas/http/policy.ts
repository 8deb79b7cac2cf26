import { ownPolicy, type Policy } from '../../core/foundations/policy.ts';
import { weavePolicy } from '../../weave/policy.ts';

/**
 * The policy of the deployment's dialect. The bundler knows it, so that functions that speak our own
 * bring nothing of Weave's.
 */
export const policy: Policy = process.env.DIALECT === 'weave' ? weavePolicy : ownPolicy;
