/*
 * The CDK app of the installed package: the service alone in a stack, as in a checkout, from the
 * bundles that the package brings.
 */

import { App } from 'aws-cdk-lib';
import project from '../../cdk.json' with { type: 'json' };
import { readConfig, SettingsError } from '../../lib/config.ts';
import { packaged } from '../../lib/pennytrace.ts';
import { PennytraceStack } from '../../lib/stack.ts';

try {
  // Context from outside comes before these: the project's feature flags, and so the same stack.
  const app = new App({
    analyticsReporting: project.versionReporting,
    autoSynth: false,
    context: project.context,
  });
  const config = readConfig(app.node.getAllContext());
  new PennytraceStack(app, { config, ...packaged(app) });
  app.synth();
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
