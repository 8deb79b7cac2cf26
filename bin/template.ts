/**
 * `npm run template`: writes a CloudFormation template that needs no CDK. Each function's code is a
 * folder beside it, as `aws cloudformation package` and SAM expect it. See docs/deploying.md.
 */

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { assemble, SynthesisFailed, synthesize } from '../local/assembly.ts';
import { type CommandOutput, Failure, parseFlags, processOutput, runCommand, UsageError } from './common.ts';

const help = `Write a CloudFormation template for SAM, Terraform or the AWS CLI: docs/deploying.md says how to deploy it.

npm run template -- [--out FOLDER] [-c NAME=VALUE]...

  --out FOLDER    where to: it must be missing or empty (template)
  -c NAME=VALUE   a setting, besides those in cdk.json`;

const synthHelp = `Write the stack's template and bundles. It needs no account, and checks every setting and resource.

npx pennytrace synth [--out FOLDER] [-c NAME=VALUE]...

  --out FOLDER    where to (cdk.out)
  -c NAME=VALUE   a setting, besides those in cdk.json`;

interface Options {
  readonly out: string;
  readonly settings: Readonly<Record<string, string>>;
}

const parseOptions = (argv: readonly string[], defaultOut: string): Options => {
  const { values } = parseFlags({
    args: [...argv],
    options: {
      out: { type: 'string', default: defaultOut },
      context: { type: 'string', short: 'c', multiple: true, default: [] },
    },
  });
  const settings = values.context.map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw new UsageError(`-c ${text}: write NAME=VALUE, such as -c retentionDays=90`);
    return [text.slice(0, at), text.slice(at + 1)];
  });
  return { out: resolve(values.out), settings: Object.fromEntries(settings) };
};

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: unknown;
}

interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Parameters?: Readonly<Record<string, unknown>>;
  readonly Rules?: Readonly<Record<string, unknown>>;
}

/** The key of a resource's code in a bucket. Other code is text in the template. */
const keyOf = ({ Properties }: Resource): string | undefined =>
  (Properties?.Code as { readonly S3Key?: string } | undefined)?.S3Key;

/** A resource whose code is a folder, and without what only CDK reads. Code inside the template stays. */
const withFolder = ({ Metadata: _metadata, ...resource }: Resource): Resource => {
  const key = keyOf(resource);
  if (key === undefined) return resource;
  return { ...resource, Properties: { ...resource.Properties, Code: folderOf(key) } };
};

/** Where the code with a key is, relative to the template. */
const folderOf = (key: string): string => `assets/${key.replace(/\.zip$/, '')}`;

const without = (values: Readonly<Record<string, unknown>> = {}, name: string) =>
  Object.fromEntries(Object.entries(values).filter(([each]) => each !== name));

/**
 * The template without what ties it to CDK: the bucket of `cdk bootstrap`, the check that there is one,
 * and metadata.
 */
export const plainTemplate = ({ Resources, Parameters, Rules, ...others }: Template): Template => {
  const parameters = without(Parameters, 'BootstrapVersion');
  const rules = without(Rules, 'CheckBootstrapVersion');
  return {
    ...others,
    ...(Object.keys(parameters).length > 0 && { Parameters: parameters }),
    ...(Object.keys(rules).length > 0 && { Rules: rules }),
    Resources: Object.fromEntries(
      Object.entries(Resources).map(([id, resource]) => [id, withFolder(resource)]),
    ),
  };
};

/** Turns an assembly of CDK into a folder with a template and its functions' code. */
export const writeTemplate = (assembly: string, out: string): { template: string; functions: number } => {
  const name = readdirSync(assembly).find((file) => file.endsWith('.template.json'));
  if (name === undefined) throw new Error(`${assembly} has no template`);
  const template = join(out, name);
  const text = readFileSync(join(assembly, name), 'utf8');
  mkdirSync(join(out, 'assets'), { recursive: true });
  const given = JSON.parse(text) as Template;
  writeFileSync(template, `${JSON.stringify(plainTemplate(given), null, 1)}\n`);
  const keys = new Set(Object.values(given.Resources).flatMap((resource) => keyOf(resource) ?? []));
  for (const key of keys) {
    const folder = folderOf(key);
    cpSync(join(assembly, folder.replace('assets/', 'asset.')), join(out, folder), { recursive: true });
  }
  return { template, functions: keys.size };
};

const isEmptyOrMissing = (folder: string): boolean => {
  try {
    return readdirSync(folder).length === 0;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return true;
    throw new Failure(`${folder} is no folder: name another with --out`, { cause: error });
  }
};

/** What is wrong with the settings is the operator's to mend. */
const forOperator = (error: unknown): unknown =>
  error instanceof SynthesisFailed ? new Failure(error.message, { cause: error }) : error;

const template = async ({ out, settings }: Options, io: CommandOutput): Promise<void> => {
  if (!isEmptyOrMissing(out)) throw new UsageError(`--out ${out}: there is something in it: remove it first`);
  const assembly = mkdtempSync(join(tmpdir(), 'pennytrace-template-'));
  try {
    await assemble(assembly, settings).catch((error: unknown) => Promise.reject(forOperator(error)));
    const written = writeTemplate(assembly, out);
    io.out(written.template);
    io.err(`The code of ${written.functions} functions is in ${join(out, 'assets')}.`);
  } finally {
    rmSync(assembly, { recursive: true, force: true });
  }
};

/** @returns the exit code: 0 done, 1 failed, 2 wrong usage */
export const run = (argv: readonly string[], io: CommandOutput): Promise<0 | 1 | 2> =>
  runCommand({ name: 'template', help, argv }, io, () => template(parseOptions(argv, 'template'), io));

/**
 * `npx pennytrace synth`: in a checkout that is the CDK CLI's.
 *
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage
 */
export const synth = (argv: readonly string[]): Promise<0 | 1 | 2> =>
  runCommand({ name: 'synth', help: synthHelp, argv }, processOutput, async () => {
    const { out, settings } = parseOptions(argv, 'cdk.out');
    await synthesize(out, { settings, validates: true }).catch((error: unknown) =>
      Promise.reject(forOperator(error)),
    );
    processOutput.out(out);
  });

export const main = (argv: readonly string[]): Promise<number> => run(argv, processOutput);

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
