import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Assembly, readAssembly } from 'cdk-local-runner/template';

/** A synthesized stack, with what CloudFormation orders by and the local service does not read. */
export const readForDeployment = (folder: string): Assembly => {
  const assembly = readAssembly(folder);
  const file = join(folder, `${assembly.stackName}.template.json`);
  const { Resources } = JSON.parse(readFileSync(file, 'utf8'));
  return { ...assembly, template: { ...assembly.template, Resources } };
};
