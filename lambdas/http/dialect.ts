import type * as z from 'zod/mini';
import type { SchemaInDialect } from '../../core/records/objects/index.ts';
import { ownPolicy, type Policy } from '../../foundations/policy.ts';
import { bodyInWeave } from '../../weave/api/changes.ts';
import { type Described, inWeave, schemaInWeave, weaveNames } from '../../weave/dialect.ts';
import { type Dialect, weavePolicy } from '../../weave/policy.ts';

/*
 * The dialect of the deployment. The bundler knows it, so that functions that speak our own bring
 * nothing of Weave's.
 */

/** The dialect of the deployment. */
export const dialect: Dialect = process.env.DIALECT === 'weave' ? 'weave' : 'svc';

/** The policy of the deployment's dialect. */
export const policy: Policy = process.env.DIALECT === 'weave' ? weavePolicy : ownPolicy;

/** A description in the dialect of the deployment. */
export const inDialect: <D extends Described>(own: D) => D =
  process.env.DIALECT === 'weave' ? inWeave : (own) => own;

/** What gives an answer that is a value the names of the deployment's dialect. */
export const namesOf: (own: Described) => <T>(value: T) => T =
  process.env.DIALECT === 'weave' ? weaveNames : () => (value) => value;

/** The schema of a tool's arguments, in the dialect of the deployment. */
export const argumentsInDialect: <S extends z.ZodMiniType>(tool: string, schema: S) => S =
  process.env.DIALECT === 'weave' ? bodyInWeave : (_, schema) => schema;

/** A schema of a value, which is no body, in the dialect of the deployment. */
export const schemaInDialect: SchemaInDialect =
  process.env.DIALECT === 'weave' ? schemaInWeave : (own) => own;
