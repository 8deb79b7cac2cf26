import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../../run/project.ts';
import type { Resources } from './order.ts';

/** A finding of the validator. */
export interface Finding {
  readonly severity: string;
  readonly message: string;
  readonly entity?: { readonly logicalId: string; readonly resourceType?: string };
}

interface Validator {
  validate(template: object, region?: string): Finding[];
  /** Gives back its part of WebAssembly's memory, some 85 MB. Otherwise that stays with the process. */
  free(): void;
}

/** The part of AWS's `@aws/cloudformation-validate` that is used here. CDK brings the package. */
interface Validation {
  readonly SchemaValidator: new () => Validator;
  readonly TemplateContent: new (content: string) => object;
}

const load = createRequire(join(root, 'node_modules/aws-cdk-lib/package.json'));
const { SchemaValidator, TemplateContent }: Validation = load('@aws/cloudformation-validate');

/**
 * What AWS's schemas of resource types say against a template. Warnings are left out.
 *
 * @returns a finding for each error, with its resource
 */
export const schemaFindings = (Resources: Resources): Finding[] => {
  const validator = new SchemaValidator();
  try {
    const findings = validator.validate(new TemplateContent(JSON.stringify({ Resources })));
    return findings.filter(({ severity }) => severity === 'ERROR' || severity === 'FATAL');
  } finally {
    validator.free();
  }
};

/**
 * The types of a template for which there is a schema. One resource of each type gets a property
 * that no type has, and a schema objects.
 */
export const typesWithSchema = (resources: Resources): ReadonlySet<string> => {
  const one = new Map(Object.entries(resources).map(([id, { Type }]) => [Type, id]));
  const spoilt = [...one].map(([Type, id]) => {
    const resource = { ...resources[id], Properties: { ...resources[id]?.Properties, NoSuchProperty: 1 } };
    return [id, { ...resource, Type }] as const;
  });
  const findings = schemaFindings(Object.fromEntries(spoilt)).filter(({ message }) =>
    message.includes('NoSuchProperty'),
  );
  return new Set(findings.flatMap(({ entity }) => entity?.resourceType ?? []));
};
