/** A resource with what CloudFormation orders by. */
export interface OrderedResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly DependsOn?: string | readonly string[];
}

/** The resources of a template, by logical id. */
export type Resources = Readonly<Record<string, OrderedResource>>;

/** The names that `${…}` in a text stands for, up to their attribute. */
const subNames = (argument: unknown): string[] => {
  const pattern = Array.isArray(argument) ? argument[0] : argument;
  return [...String(pattern).matchAll(/\$\{([^!}.][^}.]*)/g)].map(([, name = '']) => name);
};

/** All names in a value that may be those of resources. */
const namesIn = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, below]) => {
    if (key === 'Ref') return [String(below)];
    if (key === 'Fn::GetAtt') return [String(Array.isArray(below) ? below[0] : below).split('.')[0] ?? ''];
    return [...(key === 'Fn::Sub' ? subNames(below) : []), ...namesIn(below)];
  });
};

/** The resources that have to be there before one can be made. */
export const findDependencies = (resources: Resources, id: string): ReadonlySet<string> => {
  const { Properties, DependsOn = [] } = resources[id] ?? { Type: '' };
  const named = [...[DependsOn].flat(), ...namesIn(Properties)];
  return new Set(named.filter((name) => name in resources && name !== id));
};

/**
 * An order in which CloudFormation may make the resources. Of those that may be next it takes the
 * last of the template, so that nothing hangs on how CDK happens to write it.
 *
 * @throws Error if resources depend on each other in a circle, or on one that is not there
 */
export const deploymentOrder = (resources: Resources): string[] => {
  const waiting = new Map(Object.keys(resources).map((id) => [id, findDependencies(resources, id)]));
  for (const [id, { DependsOn = [] }] of Object.entries(resources))
    for (const name of [DependsOn].flat())
      if (!(name in resources)) throw new Error(`${id} depends on ${name}, which is not there`);
  const made = new Set<string>();
  while (waiting.size > 0) {
    const next = [...waiting].findLast(([, needs]) => [...needs].every((name) => made.has(name)));
    if (!next) throw new Error(`a circle of resources: ${[...waiting.keys()].join(', ')}`);
    waiting.delete(next[0]);
    made.add(next[0]);
  }
  return [...made];
};
