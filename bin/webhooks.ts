/** `npm run webhooks -- create | list | delete`: the operator's command for webhooks of alerts. See docs/alerts.md. */

import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import {
  isWebhookName,
  makeSigningKey,
  parameterName,
  urlProblem,
  webhookNameRule,
} from '../core/workers/alerts/tell/index.ts';
import { AwsError, type AwsService, askJson } from '../foundations/aws/index.ts';
import { requestBudget } from '../foundations/storage/index.ts';
import type { ProjectId } from '../foundations/wire/index.ts';
import {
  type CommandOutput,
  Failure,
  parseFlags,
  parseProject,
  processOutput,
  root,
  runCommand,
  UsageError,
} from './common.ts';
import { defaultStack, outputOfStack } from './location.ts';
import { auditOperator } from './operator.ts';

/** Where webhooks are: below a prefix of parameters, or that of a stack. */
type Place = { readonly prefix: string } | { readonly stack: string };

/** A parsed command. */
type Command =
  | { readonly name: 'list'; readonly place: Place; readonly project: ProjectId }
  | {
      readonly name: 'create' | 'delete';
      readonly place: Place;
      readonly project: ProjectId;
      readonly webhook: string;
    };

export const help = `Make, list and delete the webhooks that alerts of a project can tell.

  npm run webhooks -- create --project acme/shop --name ops
  npm run webhooks -- list --project acme/shop
  npm run webhooks -- delete --project acme/shop --name ops

create              asks for the URL, or reads it from standard input, so that it is in no history and no list of
                    processes: https://hooks.slack.com/services/… It makes a key for signatures and shows it once.
                    A webhook of this name is replaced
list                the names; URLs and keys are never shown again
  --project ENTITY/PROJECT
  --name NAME       1 to 64 letters, digits, "_" or "-", as alerts name it: {"webhook": "ops"}
where they are kept (one of)
  --stack NAME      the stack whose output WebhooksPrefix says it (default: ${defaultStack})
  --prefix PREFIX   the prefix itself: webhooksPrefix of the construct

Each is a SecureString of Systems Manager in your account, which the function of alerts alone may read. The local
service has webhooks in its variable WEBHOOKS. Exit code: 0 done, 1 failed, 2 wrong usage.`;

const listOptions = {
  stack: { type: 'string' },
  prefix: { type: 'string' },
  project: { type: 'string' },
} as const;
const options = { ...listOptions, name: { type: 'string' } } as const;

const parsePlace = ({ stack, prefix }: { stack?: string; prefix?: string }): Place => {
  if (stack !== undefined && prefix !== undefined)
    throw new UsageError('--stack and --prefix each say where webhooks are kept: give one of them');
  if (prefix !== undefined && !/^(\/[\w.-]+)+$/.test(prefix))
    throw new UsageError(`--prefix ${prefix}: should be a path like /pennytrace/${defaultStack}/webhooks`);
  return prefix === undefined ? { stack: stack ?? defaultStack } : { prefix };
};

/** @throws UsageError if an argument is wrong */
const parseCommand = (argv: readonly string[]): Command => {
  const [name, ...args] = argv;
  if (args.some((argument) => argument.startsWith('--local')))
    throw new UsageError(
      'the local service has its webhooks in the variable WEBHOOKS: docs/alerts.md#locally',
    );
  if (name === 'list') {
    const { values } = parseFlags({ args, options: listOptions });
    return { name, place: parsePlace(values), project: parseProject(values.project) };
  }
  if (name !== 'create' && name !== 'delete')
    throw new UsageError(`${name ?? 'no command'}: should be create, list or delete`);
  const { values } = parseFlags({ args, options });
  const { name: webhook } = values;
  if (webhook === undefined) throw new UsageError(`${name}: name the webhook: --name ops`);
  if (!isWebhookName(webhook)) throw new UsageError(`--name ${webhook}: ${webhookNameRule}`);
  return { name, place: parsePlace(values), project: parseProject(values.project), webhook };
};

interface CommandEnvironment extends CommandOutput {
  /** Asks for the URL, or reads it. */
  readonly askUrl: () => Promise<string>;
}

/**
 * Runs the command for webhooks.
 *
 * @param argv the arguments after the command's name
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage (nothing was done)
 */
export const run = (argv: readonly string[], io: CommandEnvironment): Promise<0 | 1 | 2> =>
  runCommand({ name: 'webhooks', help, argv }, io, () => execute(parseCommand(argv), io));

/** Systems Manager in the region and with the credentials of whoever runs this. */
const systemsManager = async (): Promise<AwsService> => {
  // It loads slowly, and finds region and credentials wherever an operator may have them.
  const { CloudFormationClient } = await import('@aws-sdk/client-cloudformation');
  const { region, credentials } = new CloudFormationClient().config;
  const { AWS_ENDPOINT_URL_SSM: endpoint } = process.env;
  return { service: 'ssm', region: await region(), credentials, endpoint };
};

/** Asks Systems Manager for an operation. Says what an operator can do about a refusal. */
const ask = async (service: AwsService, operation: string, body: object): Promise<unknown> => {
  try {
    return await askJson(service, `AmazonSSM.${operation}`, body, requestBudget(20_000));
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    if (error.code === 'ParameterNotFound')
      throw new Failure('there is no such webhook: list shows the names');
    if (error.code === 'AccessDeniedException')
      throw new Failure(`these credentials may not ssm:${operation} on the parameters of webhooks`);
    throw error;
  }
};

const described = z.object({
  Parameters: z.array(z.object({ Name: z.string(), LastModifiedDate: z.number() })).default([]),
  NextToken: z.string().nullish(),
});

const list = async (service: AwsService, prefix: string, { out }: CommandEnvironment): Promise<void> => {
  const found: string[] = [];
  let NextToken: string | null | undefined;
  do {
    const page = described.parse(
      await ask(service, 'DescribeParameters', {
        ParameterFilters: [{ Key: 'Path', Option: 'OneLevel', Values: [prefix] }],
        MaxResults: 50,
        ...(NextToken && { NextToken }),
      }),
    );
    for (const { Name, LastModifiedDate } of page.Parameters)
      found.push(
        `${Name.slice(prefix.length + 1).padEnd(20)} since ${new Date(LastModifiedDate * 1000).toISOString()}`,
      );
    NextToken = page.NextToken;
  } while (NextToken);
  out(found.length > 0 ? found.toSorted().join('\n') : 'no webhooks');
};

const execute = async (command: Command, io: CommandEnvironment): Promise<void> => {
  const { place, project } = command;
  const prefix =
    'prefix' in place
      ? place.prefix
      : await outputOfStack(place.stack, 'WebhooksPrefix', 'deploy it with the setting alerts');
  const service = await systemsManager();
  if (command.name === 'list') return list(service, `${prefix}/${project}`, io);
  const Name = parameterName(prefix, project, command.webhook);
  const audit = (action: string) => {
    const deed = { scope: project, action, target: command.webhook };
    return 'stack' in place
      ? auditOperator({ kind: 'stack', name: place.stack }, root, [deed], io)
      : Promise.resolve();
  };
  if (command.name === 'delete') {
    await audit('webhook.delete');
    await ask(service, 'DeleteParameter', { Name });
    return io.err(
      `${command.webhook} of ${project} is deleted. Alerts that name it cannot tell it any more.`,
    );
  }
  const url = (await io.askUrl()).trim();
  const problem = urlProblem(url);
  // The URL is not repeated: error messages end in logs.
  if (problem !== undefined) throw new UsageError(`create: the URL cannot be used: ${problem}`);
  const key = makeSigningKey();
  await audit('webhook.create');
  await ask(service, 'PutParameter', {
    Name,
    Type: 'SecureString',
    Overwrite: true,
    Value: JSON.stringify({ url, key }),
    Description: 'A webhook that alerts can tell',
  });
  io.out(key);
  io.err(
    `A webhook ${command.webhook} of ${project}. The key of its signatures is shown only now. ` +
      `Name it in an alert: "tell": [{"webhook": "${command.webhook}", "format": "slack" or "json"}].`,
  );
};

/** Asks at a terminal, without showing what is typed; reads standard input otherwise. */
const askUrl = async (): Promise<string> => {
  if (!process.stdin.isTTY) return text(process.stdin);
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: unseen, terminal: true });
  process.stderr.write('URL (not shown): ');
  try {
    return await lines.question('');
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
};

export const main = (argv: readonly string[]): Promise<number> => run(argv, { ...processOutput, askUrl });

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
