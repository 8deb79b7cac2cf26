/*
 * Figures of the template and of bundles in documents: `<!-- figure: name -->7<!-- end -->`. `npm run generate`
 * writes them, and a test compares them.
 */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { z } from 'zod';
import { allRoutes } from '../api/routes.ts';
import { readConfig } from '../lib/config.ts';
import { handlersFor } from '../lib/features.ts';
import { PennytraceStack } from '../lib/stack.ts';
import { root } from './common.ts';
import { free, prices } from './cost/bill.ts';

/** Makes an empty bundle for each handler in a folder: what a template says does not depend on what is in them. */
export const emptyBundles = (handlers: readonly string[], outdir: string): ReadonlyMap<string, string> =>
  new Map(
    handlers.map((handler) => {
      const folder = join(outdir, handler);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'index.cjs'), `// ${handler}\n`);
      return [handler, folder];
    }),
  );

/** What is counted of a resource. */
const resource = z.object({
  Type: z.string(),
  Properties: z
    .object({
      /** Of an alarm on a formula. */
      Metrics: z.array(z.object({ MetricStat: z.unknown().optional() })).optional(),
      /** Of a dashboard. */
      DashboardBody: z.object({ 'Fn::Join': z.tuple([z.string(), z.array(z.unknown())]) }).optional(),
      /** Of a filter of logs. */
      MetricTransformations: z.array(z.object({ MetricName: z.string() })).default([]),
    })
    .default({ MetricTransformations: [] }),
});
type Resource = z.output<typeof resource>;

/** The resources of the stack with settings, in the context of cdk.json. */
const resourcesWith = (settings: Readonly<Record<string, unknown>>): readonly Resource[] => {
  const outdir = mkdtempSync(join(tmpdir(), 'pennytrace-figures-'));
  try {
    const { context } = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8'));
    const app = new App({ outdir, context: { ...context, ...settings }, analyticsReporting: false });
    const config = readConfig(app.node.getAllContext());
    const bundles = emptyBundles(handlersFor(config, allRoutes), join(outdir, 'bundles'));
    const stack = new PennytraceStack(app, { config, routes: allRoutes, bundles });
    const { Resources } = app.synth().getStackByName(stack.stackName).template;
    return z.array(resource).parse(Object.values(Resources));
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
};

const ofType = (resources: readonly Resource[], type: string): readonly Resource[] =>
  resources.filter(({ Type }) => Type === type);

/** How many metrics the alarms are on: those on a formula count with all metrics of it. */
const alarmMetrics = (resources: readonly Resource[]): number =>
  ofType(resources, 'AWS::CloudWatch::Alarm')
    .map(({ Properties: { Metrics } }) => Metrics?.filter(({ MetricStat }) => MetricStat).length ?? 1)
    .reduce((sum, metrics) => sum + metrics, 0);

const dashboard = z.object({
  widgets: z.array(z.object({ properties: z.object({ metrics: z.array(z.unknown()).default([]) }) })),
});

/** How many metrics the dashboard shows, besides formulas of them. */
const dashboardMetrics = (resources: readonly Resource[]): number =>
  ofType(resources, 'AWS::CloudWatch::Dashboard')
    .flatMap(({ Properties: { DashboardBody } }) => {
      const parts = DashboardBody?.['Fn::Join'][1] ?? [];
      const body = parts.map((part) => (typeof part === 'string' ? part : 'token')).join('');
      return dashboard.parse(JSON.parse(body)).widgets.flatMap(({ properties }) => properties.metrics);
    })
    .filter((row) => !JSON.stringify(row).includes('"expression"')).length;

/** How many metrics are counted from logs. */
const logMetrics = (resources: readonly Resource[]): number =>
  new Set(
    resources.flatMap(({ Properties }) =>
      Properties.MetricTransformations.map(({ MetricName }) => MetricName),
    ),
  ).size;

const bundleKilobytes = (handler: string): number => {
  const figures: Readonly<Record<string, readonly [bytes: number, unit: string]>> = JSON.parse(
    readFileSync(join(root, 'bench/figures.json'), 'utf8'),
  );
  const found = figures[`bundles: ${handler}: bundle`];
  if (!found) throw new Error(`bench/figures.json has no bundle of ${handler}`);
  return Math.round(found[0] / 1000);
};

/** All figures by name, as documents show them. */
export const templateFigures = (): Readonly<Record<string, string>> => {
  const plain = resourcesWith({});
  const streams = resourcesWith({ events: true });
  const readers = resourcesWith({ events: true, analytics: true });
  const alerts = resourcesWith({ alerts: true });
  const most = alarmMetrics(readers) + alarmMetrics(alerts) - alarmMetrics(plain);
  const figures: Readonly<Record<string, number | string>> = {
    resources: plain.length,
    tables: ofType(plain, 'AWS::DynamoDB::Table').length,
    roles: ofType(plain, 'AWS::IAM::Role').length,
    bundles: ofType(plain, 'AWS::Lambda::Function').length,
    alarms: ofType(plain, 'AWS::CloudWatch::Alarm').length,
    alarmMetrics: alarmMetrics(plain),
    alarmMetricsWithStreams: alarmMetrics(streams),
    alarmMetricsWithReaders: alarmMetrics(readers),
    alarmMetricsWithAlerts: alarmMetrics(alerts),
    alarmMetricsAtMost: most,
    alarmDollarsAtMost: (Math.max(0, most - free.alarms) * prices.alarms.usd).toFixed(2),
    dashboardMetrics: dashboardMetrics(plain),
    logMetrics: logMetrics(plain),
    mcpBundle: bundleKilobytes('mcp'),
  };
  return Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, String(figure)]));
};

const marked = /(<!-- figure: (\w+) -->)[^<]*(<!-- end -->)/g;

/** Every document that may have figures, by its path. */
export const documents: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/**
 * The text of a document with its figures.
 *
 * @throws Error if it has a figure that nobody counts
 */
export const withFigures = (path: string, text: string, figures: Readonly<Record<string, string>>): string =>
  text.replace(marked, (_, start: string, name: string, end: string) => {
    const figure = figures[name];
    if (figure === undefined) throw new Error(`${path} has the unknown figure "${name}"`);
    return `${start}${figure}${end}`;
  });
