import { getOutput, readStack } from 'cdk-local-runner/template';
import { describe, expect, it } from 'vitest';
import { getMethods, takesKey } from '../../../api/endpoint.ts';
import { allRoutes } from '../../../api/routes.ts';
import { assembly } from '../../support/stack/assembly.ts';

describe('the synthesized stack', () => {
  const stack = readStack(assembly());

  it('has an authorizer before every route that requires a key, and functions that know their tables', () => {
    for (const { path, method, authorizer, function: spec } of stack.api.routes) {
      const route = allRoutes.find(
        (candidate) => candidate.path === path && getMethods(candidate).includes(method),
      );
      const stores = route?.stores;
      const { CALLS_TABLE, OBJECTS_TABLE, COSTS_TABLE } = spec.environment;
      expect(authorizer?.function.environment.KEYS_TABLE).toBe(
        route && takesKey(route) ? getOutput(stack, 'KeysTable') : undefined,
      );
      expect(CALLS_TABLE).toBe(stores?.calls && getOutput(stack, 'CallsTable'));
      const objects = stores?.objects ?? stores?.tables ?? stores?.files;
      expect(OBJECTS_TABLE).toBe(objects && getOutput(stack, 'ObjectsTable'));
      expect(COSTS_TABLE).toBe(stores?.costs && getOutput(stack, 'CostsTable'));
    }
  });
});
