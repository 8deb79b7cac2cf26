import type { SchemaInDialect } from '../../core/records/objects/index.ts';
import { ownPolicy, type Policy } from '../../foundations/policy.ts';
import { type Described, inWeave, schemaInWeave, weaveNames } from '../../weave/dialect.ts';
import { weavePolicy } from '../../weave/policy.ts';

/*
 * The dialect of the deployment. The bundler knows it, so that functions that speak our own bring
 * nothing of Weave's.
 */

/** The policy of the deployment's dialect. */
export const policy: Policy = process.env.DIALECT === 'weave' ? weavePolicy : ownPolicy;

/** A description in the dialect of the deployment. */
export const inDialect: <D extends Described>(own: D) => D =
  process.env.DIALECT === 'weave' ? inWeave : (own) => own;

/** What gives an answer that is a value the names of the deployment's dialect. */
export const namesOf: (own: Described) => <T>(value: T) => T =
  process.env.DIALECT === 'weave' ? weaveNames : () => (value) => value;

/** A schema of a value, which is no body, in the dialect of the deployment. */
export const schemaInDialect: SchemaInDialect =
  process.env.DIALECT === 'weave' ? schemaInWeave : (own) => own;
