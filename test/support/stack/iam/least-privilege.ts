import { sourceNames } from 'cdk-local-runner';
import type { Access } from 'cdk-local-runner/template';
import type { LocalServiceOptions, WrapStores } from '../../../../local/service.ts';
import { guardStores, withAccessKeys } from './guard.ts';

/**
 * Holds the functions of a local service to their roles, as AWS does: each request to a store
 * passes a guard.
 *
 * @param log takes a line for each request that is refused, with the source `store`
 * @param onAccess takes each access that is allowed and done, with the route that made it or
 * `authorizer`
 */
export const leastPrivilege =
  (
    log: NonNullable<LocalServiceOptions['log']>,
    onAccess: (source: string, access: Access) => void = () => {},
  ): WrapStores =>
  async ({ dynamodb, s3, functions }, stack, cleanup) => {
    const sourceName = sourceNames(stack);
    const specs = withAccessKeys(functions);
    const guarded = await guardStores(
      { dynamodb, s3 },
      {
        specs,
        policies: stack.policies(),
        used: ({ name }, access) => onAccess(sourceName(name), access),
        log: (line) => log('store', line),
      },
      cleanup,
    );
    return { ...guarded, functions: specs };
  };
