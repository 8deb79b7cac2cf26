import { describe, expect, it } from 'vitest';
import type * as z from 'zod/mini';
import { isPage } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import { weaveRoutes } from '../../../weave/api/routes.ts';
import { inWeave, weaveNames } from '../../../weave/dialect.ts';

type Schema = z.core.$ZodType;

/** Values of a schema that have every field, of each of its options. */
const samplesOf = (schema: Schema): unknown[] => {
  const { def } = schema._zod;
  switch (def.type) {
    case 'object': {
      const fields = Object.entries((def as z.core.$ZodObjectDef).shape).map(
        ([name, of]) => [name, samplesOf(of)] as const,
      );
      const count = Math.max(1, ...fields.map(([, samples]) => samples.length));
      return Array.from({ length: count }, (_, at) =>
        Object.fromEntries(fields.map(([name, samples]) => [name, samples[at % samples.length]])),
      );
    }
    case 'optional':
    case 'nullable':
      return samplesOf((def as z.core.$ZodOptionalDef).innerType);
    case 'array':
      return [samplesOf((def as z.core.$ZodArrayDef).element)];
    case 'record':
      return samplesOf((def as z.core.$ZodRecordDef).valueType).map((value) => ({ name: value }));
    case 'union':
      return (def as z.core.$ZodUnionDef).options.flatMap(samplesOf);
    case 'pipe':
      return samplesOf((def as z.core.$ZodPipeDef).out);
    default:
      return ['any'];
  }
};

const documented = [...routes, ...weaveRoutes].filter((route) => !isPage(route));

describe('an answer in Weave’s dialect', () => {
  it.each(documented)('of $path has no name of ours', (route) => {
    // Handlers name answers by the description that requests are read by.
    const named = weaveNames(inWeave(route));
    for (const sample of samplesOf(route.answer()))
      expect(JSON.stringify(named(sample))).not.toMatch(/"svc(_\w+)?":/);
  });

  it('has names of ours to change', () => {
    const ours = documented.filter((route) => /"svc_\w+":/.test(JSON.stringify(samplesOf(route.answer()))));
    expect(ours.map(({ path }) => path)).toContain('/feedback/create');
    expect(ours.length).toBeGreaterThan(4);
  });
});
