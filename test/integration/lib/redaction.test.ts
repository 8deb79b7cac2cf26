import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { isKeyed, type Route } from '../../../api/endpoint.ts';
import { allRoutes } from '../../../api/routes.ts';
import { redactionModule } from '../../../lib/handlers.ts';
import { storesReports } from '../../../lib/permissions.ts';
import { Redaction } from '../../../lib/redaction.ts';
import { temporaryFolder } from '../../support/run/project.ts';
import { emptyBundles, type Resource, synthesize } from '../../support/stack/template.ts';

const email = { name: 'email', builtin: 'email', action: 'label' };
const field = { name: 'password', paths: ['inputs.password'], action: 'drop' };

const listResources = (redact: readonly object[] | undefined): Resource[] =>
  Object.values(synthesize(redact ? { redact } : {}).toJSON().Resources as Record<string, Resource>);
const getVariables = ({ Properties }: Resource): Record<string, unknown> =>
  (Properties.Environment as { Variables?: Record<string, unknown> } | undefined)?.Variables ?? {};
const redacting = (resources: readonly Resource[]) =>
  resources.filter(
    (resource) => resource.Type === 'AWS::Lambda::Function' && 'REDACTION' in getVariables(resource),
  );
const findSecrets = (resources: readonly Resource[]) =>
  resources.filter(({ Type }) => Type === 'AWS::SecretsManager::Secret');

describe('the setting redact', () => {
  it('adds nothing to a stack without it', () => {
    const resources = listResources(undefined);
    expect(JSON.stringify(resources)).not.toMatch(/REDACTION|SecretsManager/);
  });

  it('makes one secret if something can be hashed, which stays with the data, and none otherwise', () => {
    const resources = listResources([email]);
    expect(findSecrets(resources)).toMatchObject([{ DeletionPolicy: 'Retain' }]);
    const [one] = redacting(resources);
    expect(JSON.stringify(one && getVariables(one).REDACTION_KEY)).toContain('{{resolve:secretsmanager:');
    const fields = listResources([field]);
    expect(findSecrets(fields)).toEqual([]);
    expect(redacting(fields).length).toBe(redacting(resources).length);
    expect(fields.some((resource) => 'REDACTION_KEY' in getVariables(resource))).toBe(false);
  });

  it('has every function redact that stores something of a client’s', () => {
    const paths = (routes: readonly Route[]) =>
      Array.from(new Set(routes.map(({ path }) => path))).toSorted();
    const isWriting = (route: Route) => isKeyed(route) && ['report', 'write'].includes(route.role);
    // These keep prices, delete, drop what they get, or ask judges, for which the setting `evaluators` has
    // their functions redact, too.
    expect(paths(allRoutes.filter((route) => isWriting(route) && !storesReports(route)))).toEqual([
      '/calls/delete',
      '/calls/score',
      '/cost/create',
      '/cost/purge',
      '/feedback/purge',
      '/obj/delete',
      '/otel/v1/metrics',
    ]);
    // And these store something, whatever the key of their route may do otherwise.
    expect(paths(allRoutes.filter((route) => !isWriting(route) && storesReports(route)))).toEqual([
      // They share a function with endpoints that write, as those of prompts do.
      '/graphql',
      '/inference/v1/{path+}',
      '/mcp',
      '/prompt/read',
      '/prompts/query',
      '/weave/aliases',
      '/weave/completions/create',
      '/weave/tags',
      '/weave/{proxy+}',
    ]);
  });
});

it('the code of a function is its bundle, with what redacts and the rules beside it', () => {
  const bundles = new Map([...emptyBundles(['call/start']), ...emptyBundles([redactionModule])]);
  const folder = bundles.get('call/start') ?? '';
  const stack = new Stack(new App({ outdir: temporaryFolder() }));
  const rules = [{ name: 'password', paths: ['inputs.password'], action: 'drop' as const }];
  const redaction = new Redaction(stack, 'Redaction', { config: { keepData: true }, rules, bundles });
  const made = redaction.code('call/start');
  expect(readdirSync(folder)).toEqual(['index.cjs']);
  expect(readdirSync(made).toSorted()).toEqual(['index.cjs', 'redaction']);
  expect(JSON.parse(readFileSync(join(made, 'redaction/rules.json'), 'utf8'))).toEqual(rules);
  expect(readFileSync(join(made, 'redaction/index.cjs'), 'utf8')).toContain(redactionModule);
  expect(Template.fromStack(stack).toJSON()).not.toHaveProperty('Resources.Redaction');
  const telling = redaction.code('call/start', false);
  expect(readdirSync(join(telling, 'redaction'))).toEqual(['rules.json']);
});
