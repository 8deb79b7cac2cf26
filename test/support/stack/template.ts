import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { Route } from '../../../api/endpoint.ts';
import { allRoutes, routes as ownRoutes } from '../../../api/routes.ts';
import { emptyBundles as emptyBundlesIn } from '../../../bin/figures.ts';
import { readConfig } from '../../../lib/config.ts';
import { handlersFor } from '../../../lib/features.ts';
import { PennytraceStack } from '../../../lib/stack.ts';
import { cdkContext, temporaryFolder } from '../run/project.ts';
import { getBundles } from './assembly.ts';

/** An empty bundle for each handler, in a folder of its own. */
export const emptyBundles = (handlers: readonly string[]): ReadonlyMap<string, string> =>
  emptyBundlesIn(handlers, temporaryFolder());

/**
 * Makes the stack as the app does, but for its bundles, which are empty; with settings, and routes,
 * of one's own.
 */
export const makeStack = (
  settings: Record<string, unknown> = {},
  routes: readonly Route[] = ownRoutes,
): { app: App; stack: PennytraceStack } => {
  const outdir = temporaryFolder();
  const app = new App({ outdir, context: { ...cdkContext, ...settings }, analyticsReporting: false });
  const config = readConfig(app.node.getAllContext());
  const bundles = emptyBundles(handlersFor(config, routes));
  return { app, stack: new PennytraceStack(app, { config, routes, bundles }) };
};

/**
 * Synthesizes the stack with settings, from the bundles of this test run's stack: bundling again
 * takes most of a synthesis.
 *
 * @param outdir the folder for the template
 */
export const synthesizeWith = (settings: Readonly<Record<string, unknown>>, outdir: string): void => {
  const app = new App({ outdir, context: { ...cdkContext, ...settings }, analyticsReporting: false });
  const config = readConfig(app.node.getAllContext());
  const bundles = getBundles(handlersFor(config, allRoutes));
  new PennytraceStack(app, { config, routes: allRoutes, bundles });
  app.synth();
};

const templates = new Map<string, Template>();

/** The template that the stack is deployed from, made once for the same settings. */
export const synthesize = (settings: Record<string, unknown> = {}, routes = ownRoutes): Template => {
  const key = JSON.stringify([settings, routes]);
  const template = templates.get(key) ?? Template.fromStack(makeStack(settings, routes).stack);
  templates.set(key, template);
  return template;
};

/** A resource as it stands in a template. */
export interface Resource {
  readonly Type: string;
  readonly Properties: Record<string, unknown>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

/** All resources of a type, by logical id. */
export const findResources = (template: Template, type: string): Map<string, Resource> =>
  new Map(Object.entries(template.findResources(type) as Record<string, Resource>));

/**
 * The only resource of a type whose logical id begins so, and its id. Throws where there is none,
 * or more.
 */
export const findResource = (template: Template, type: string, idStart = ''): [string, Resource] => {
  const found = [...findResources(template, type)].filter(([id]) => id.startsWith(idStart));
  const [only] = found;
  if (!only || found.length > 1) throw new Error(`${found.length} resources ${type} ${idStart}…`);
  return only;
};
