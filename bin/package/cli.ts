#!/usr/bin/env node
/*
 * `npx pennytrace`: the commands of a checkout, for those who have the package alone. It imports what
 * a command needs when that is run: an older Node, or an app without CDK, then gets a line that says
 * what is missing.
 */

import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import about from '../../package.json' with { type: 'json' };

const help = `Tracing, feedback and inference for LLM applications, in your own AWS account.

  npx pennytrace start                    run the service on this machine
  npx pennytrace synth [-c name=value]    write the CloudFormation template to cdk.out
  npx pennytrace bootstrap                prepare an AWS account and region, once
  npx pennytrace diff | deploy | destroy  compare, deploy or remove the stack; options are those of the CDK CLI
  npx pennytrace template [--out folder]  write a template for SAM, Terraform or the AWS CLI
  npx pennytrace login | logout           sign in to a service as a person; login --help says more
  npx pennytrace keys | limits | webhooks | verify | restore | remove | compact | cost
                                          operate a service; --help says more of each

Settings of the stack are in the context of cdk.json in this folder, such as
  {"context": {"retentionDays": 90}}
docs/configuration.md has them all; docs/local.md has those of start.
`;

/** A command gets the arguments after its name, and returns an exit code. */
type Command = (argv: readonly string[]) => number | Promise<number>;

const done = 0;
const wrongUsage = 2;

/** The version of the CDK CLI that the package was made with. */
const cdkVersion = about.devDependencies['aws-cdk'];

/** The CDK CLI of the folder's own packages; undefined if there is none. */
const installedCdk = (): string | undefined => {
  try {
    return join(createRequire(join(process.cwd(), 'here.js')).resolve('aws-cdk/package.json'), '../bin/cdk');
  } catch {
    return undefined;
  }
};

const quoted = (path: string): string => JSON.stringify(path);

/** Has the CDK CLI do it, with the app that the package brings. */
const cdk =
  (name: string): Command =>
  (argv) => {
    const app = `${quoted(process.execPath)} ${quoted(join(import.meta.dirname, 'app.js'))}`;
    const args = [name, '--app', app, ...argv];
    const installed = installedCdk();
    const { status, error } =
      installed === undefined
        ? spawnSync('npx', ['--yes', `aws-cdk@${cdkVersion}`, ...args], { stdio: 'inherit' })
        : spawnSync(process.execPath, [installed, ...args], { stdio: 'inherit' });
    if (error) throw error;
    return status ?? 1;
  };

const commands: Readonly<Record<string, Command>> = {
  start: async () => {
    await import('../../local/main.ts');
    return done;
  },
  synth: async (argv) => (await import('../template.ts')).synth(argv),
  template: async (argv) => (await import('../template.ts')).main(argv),
  bootstrap: cdk('bootstrap'),
  diff: cdk('diff'),
  deploy: cdk('deploy'),
  destroy: cdk('destroy'),
  keys: async (argv) => (await import('../keys.ts')).main(argv),
  login: async (argv) => (await import('../login.ts')).main(argv),
  logout: async (argv) => (await import('../login.ts')).main(['logout', ...argv]),
  limits: async (argv) => (await import('../limits.ts')).main(argv),
  webhooks: async (argv) => (await import('../webhooks.ts')).main(argv),
  verify: async (argv) => (await import('../verify.ts')).main(argv),
  restore: async (argv) => (await import('../restore.ts')).main(argv),
  remove: async (argv) => (await import('../remove.ts')).main(argv),
  compact: async (argv) => (await import('../compact.ts')).main(argv),
  cost: async (argv) => (await import('../cost.ts')).main(argv),
};

/** What only newer Nodes can do: the others need what CDK needs. */
const needsNode: Readonly<Record<string, number>> = { start: 24 };

const refuse = (message: string): number => {
  console.error(`pennytrace: ${message}`);
  return wrongUsage;
};

const isMissingCdk = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  error.code === 'ERR_MODULE_NOT_FOUND' &&
  /aws-cdk-lib|constructs/.test(error.message);

const run = async ([name, ...argv]: readonly string[]): Promise<number> => {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(help);
    return name === undefined ? wrongUsage : done;
  }
  if (name === '--version') {
    console.log(about.version);
    return done;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command)
    return refuse(`there is no command ${name}: write one of ${Object.keys(commands).join(', ')}`);
  const [major = 0] = process.versions.node.split('.').map(Number);
  const least = needsNode[name] ?? 20;
  if (major < least)
    return refuse(`${name} needs Node ${least} or newer, and this is Node ${process.versions.node}`);
  // It starts this process anew, with the arguments that it has.
  if (name === 'start') await import('../../local/lean.ts');
  // Modules that read their own arguments find them where they are without this command.
  process.argv.splice(2, 1);
  try {
    return await command(argv);
  } catch (error) {
    if (!isMissingCdk(error)) throw error;
    return refuse(`${name} needs aws-cdk-lib and constructs: npm install aws-cdk-lib constructs`);
  }
};

process.exitCode = await run(process.argv.slice(2));
