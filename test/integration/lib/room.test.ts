import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { isKeyed, type Route } from '../../../api/endpoint.ts';
import { routes as ownRoutes, allRoutes as routes } from '../../../api/routes.ts';
import { assembly } from '../../support/stack/assembly.ts';
import { everySetting } from '../../support/stack/every-setting.ts';
import { makeStack, type Resource } from '../../support/stack/template.ts';

/** CloudFormation's bounds on one template, as of 2026-11. */
const maxResources = 500;
const maxBytes = 1_000_000;

/** The endpoints that the template has to have room for. */
const endpoints = 83;

/**
 * What is left for tables and functions that are no endpoints. It was 95 before there were settings, which
 * take some hundred resources when all are on.
 */
const margin = 20;

const keyed = ownRoutes.filter(isKeyed);

/**
 * Endpoints like today's that stand for later ones. Two share the first part of their path, so that
 * they take more API resources each than today's do.
 */
const madeUp = [...keyed, ...keyed]
  .slice(0, Math.max(0, endpoints - routes.length))
  .map((route, i): Route => {
    const path = `/made-up-${Math.floor(i / 2)}/endpoint-${i}` as const;
    return { ...route, path, handler: path.slice(1) };
  });

/** A template as CDK writes it. */
interface Written {
  readonly Resources: Readonly<Record<string, Resource>>;
}

/** All templates that an app writes, those of nested stacks too. */
const readTemplates = (app: App) => {
  const { directory } = app.synth();
  return readdirSync(directory)
    .filter((name) => name.endsWith('.template.json'))
    .map((name) => readFileSync(join(directory, name), 'utf8'))
    .map((text) => ({ bytes: Buffer.byteLength(text), template: JSON.parse(text) as Written }));
};

const today: Written = JSON.parse(readFileSync(join(assembly(), 'Pennytrace.template.json'), 'utf8'));
const files = readTemplates(makeStack(everySetting, [...routes, ...madeUp]).app);

describe(`with ${endpoints} endpoints and every setting, a template of the stack`, () => {
  it('keeps away from the number of resources that CloudFormation takes', () => {
    expect(routes.length).toBeLessThanOrEqual(endpoints);
    for (const { template } of files)
      expect(Object.keys(template.Resources).length, 'resources').toBeLessThanOrEqual(maxResources - margin);
  });

  it('keeps away from the size that CloudFormation takes', () => {
    for (const { bytes } of files) expect(bytes).toBeLessThan(maxBytes * 0.6);
  });
});

describe('what holds data, and what the URL is made of', () => {
  /** Another logical id is another resource: a new, empty one. */
  const lasting = [
    'ApiRest4DEC74FE',
    'AuthKeys51F9A478',
    'StorageAudit9012A908',
    'StorageCalls671F0BAC',
    'StorageCosts588B3DA1',
    'StorageFeedback1BD6D49C',
    'StorageObjectsAC4CDBF6',
    'StoragePayloadsCE68CCE3',
    'StorageRollups7265698E',
  ];
  const types = ['AWS::ApiGateway::RestApi', 'AWS::DynamoDB::Table', 'AWS::S3::Bucket'];
  const findLasting = ({ Resources }: Written): string[] =>
    Object.entries(Resources)
      .filter(([, { Type }]) => types.includes(Type))
      .map(([id]) => id)
      .toSorted();

  it('is what it always was', () => {
    expect(findLasting(today)).toEqual(lasting);
  });

  it('stays where it is when there are more endpoints and settings, beside what settings add', () => {
    expect(files.map(({ template }) => findLasting(template))).toEqual([
      [...lasting, 'AnalyticsFiles33EC05FF', 'InferenceRates60586723'].toSorted(),
    ]);
  });
});
