import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { routes } from '../../../api/routes.ts';
import { type Config, readConfig, SettingsError } from '../../../lib/config.ts';
import { everyHandler } from '../../../lib/features.ts';
import { Pennytrace, type PennytraceProps } from '../../../lib/index.ts';
import { cdkContext, root, temporaryFolder } from '../../support/run/project.ts';
import { emptyBundles, findResources } from '../../support/stack/template.ts';

/** Some of the routes: two services fit into one stack, however many routes there will be. */
const parts = { routes: routes.slice(0, 12), bundles: emptyBundles(everyHandler) };

const makeApp = (): App =>
  new App({ outdir: temporaryFolder(), context: cdkContext, analyticsReporting: false });

describe('two services in one stack', () => {
  const app = makeApp();
  const stack = new Stack(app, 'Shop');
  const [one, two] = ['One', 'Two'].map((id) => new Pennytrace(stack, id, {}, parts));
  const template = Template.fromStack(stack);
  const getProperties = (type: string, property: string): unknown[] =>
    [...findResources(template, type).values()].map(({ Properties }) => Properties[property]);
  const toName = (suffix: string) => ({ 'Fn::Join': ['', [{ Ref: 'AWS::StackName' }, suffix]] });

  it('have a URL and tables each', () => {
    expect(stack.resolve(one?.apiUrl)).not.toEqual(stack.resolve(two?.apiUrl));
    expect(stack.resolve(one?.callsTable.tableName)).toEqual({
      Ref: expect.stringMatching(/^OneStorageCalls/),
    });
    expect(stack.resolve(two?.keysTable.tableName)).toEqual({ Ref: expect.stringMatching(/^TwoAuthKeys/) });
  });

  it.each([
    ['AWS::ApiGateway::RestApi', 'Name'],
    ['AWS::CloudWatch::Dashboard', 'DashboardName'],
    ['AWS::Logs::QueryDefinition', 'Name'],
  ])('share no name of a resource %s, by which CloudWatch would mix them up', (type, property) => {
    const names = getProperties(type, property).map((name) => JSON.stringify(name));
    expect(names.length).toBeGreaterThan(1);
    expect(new Set(names).size).toBe(names.length);
  });

  it('count their failures apart', () => {
    const namespaces = getProperties('AWS::Logs::MetricFilter', 'MetricTransformations').map((list) =>
      JSON.stringify((list as { MetricNamespace: unknown }[])[0]?.MetricNamespace),
    );
    expect(new Set(namespaces)).toEqual(new Set(['-One', '-Two'].map((id) => JSON.stringify(toName(id)))));
  });

  it('make the role for logs once, which both stages wait for', () => {
    const accounts = [...findResources(template, 'AWS::ApiGateway::Account').keys()];
    expect(accounts).toEqual([expect.stringMatching(/^OneApiRestAccount/)]);
    for (const stage of findResources(template, 'AWS::ApiGateway::Stage').values())
      expect(stage).toMatchObject({ DependsOn: expect.arrayContaining(accounts) });
  });

  it('give no resource a name of its own that another deployment could have taken', () => {
    const named = Object.values(template.toJSON().Resources as Record<string, { Properties: object }>)
      .flatMap(({ Properties = {} }) => Object.entries(Properties))
      .filter(([name]) => /^(?:Table|Bucket|Function|Role|Topic|LogGroup|Alarm|Secret|Queue)Name$/.test(name))
      // A filter and a version name what they are for.
      .filter(([, value]) => typeof value === 'string');
    expect(named).toEqual([]);
  });
});

describe('the construct', () => {
  it('names each bad setting and says what to write', () => {
    const make = () => new Pennytrace(new Stack(makeApp(), 'Shop'), 'Bad', { retentionDays: 0 }, parts);
    expect(make).toThrow(SettingsError);
    expect(make).toThrow('setting retentionDays is 0: write a whole number from 1 to 36500');
  });

  it('says where bundles come from when there are none', () => {
    expect(() => new Pennytrace(new Stack(makeApp(), 'Shop'), 'Bare')).toThrow('npm pack');
  });

  it('takes shards as a number or as their history', () => {
    expect(readConfig({ shards: [4, 16] }).shards).toEqual([4, 16]);
    expect(readConfig({ shards: 8 }).shards).toEqual([8]);
  });
});

describe('the props', () => {
  const source = readFileSync(join(root, 'lib/props.ts'), 'utf8').split('interface PennytraceProps')[1] ?? '';
  const documented = [...source.matchAll(/\/\*\*([\s\S]*?)\*\/\s*readonly (\w+)\?/g)].map(
    ([, comment = '', name = '']) => ({ name, byDefault: /@default (.*)/.exec(comment)?.[1] ?? '' }),
  );

  it('are the settings, but for the name of the stack', () => {
    expectTypeOf<keyof PennytraceProps>().toEqualTypeOf<Exclude<keyof Config, 'stackName'>>();
    expect(documented.length).toBeGreaterThan(10);
  });

  it('state the defaults that are in force', () => {
    const { stackName, ...actual } = readConfig({});
    const stated = documented.filter(({ byDefault }) => !byDefault.startsWith('- '));
    const values = stated.map(({ name, byDefault }) => [name, byDefault.replaceAll("'", '')]);
    expect(Object.fromEntries(values)).toEqual(
      Object.fromEntries(Object.entries(actual).map(([name, value]) => [name, String(value)])),
    );
  });

  it('each say what happens without them', () => {
    expect(documented.filter(({ byDefault }) => byDefault === '')).toEqual([]);
  });
});
