/*
 * What functions find in their environment here, in the place of what AWS has for them.
 */

import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeFailure } from 'aws-stand-in';
import { type FunctionSpec, getOutput, type StackSpec } from 'cdk-local-runner/template';
import type { SignInSettings } from '../foundations/auth/index.ts';
import type { LocalUpstreams } from './inference.ts';
import { BadSetting, type LocalWebhooks } from './settings.ts';

type Specs = readonly FunctionSpec[];

/** Gives some functions variables, in the place of their own of the same names. */
const withVariables = (
  functions: Specs,
  variables: Readonly<Record<string, string>>,
  isMeant: (spec: FunctionSpec) => boolean,
): Specs =>
  functions.map((spec) =>
    isMeant(spec) ? { ...spec, environment: { ...spec.environment, ...variables } } : spec,
  );

/** The routes whose functions ask models. Functions that judge do so, too. */
const askingPaths: ReadonlySet<string> = new Set([
  '/inference/v1/{path+}',
  '/inference/v1/models',
  '/weave/completions/create',
  '/weave/{proxy+}',
  '/calls/score',
]);

/**
 * Gives the stack's functions these upstreams in place of the configured ones. The keys of those are
 * in Secrets Manager, which does not run locally.
 */
export const withUpstreams = (
  { api, functions, queues }: Pick<StackSpec, 'api' | 'functions' | 'queues'>,
  upstreams: LocalUpstreams,
): Specs => {
  const routes = api.routes.filter(({ path }) => askingPaths.has(path));
  const asking = new Set([...routes, ...queues].map((item) => item.function.arn));
  const variables = { INFERENCE_UPSTREAMS: JSON.stringify(upstreams) };
  return withVariables(functions, variables, ({ arn }) => asking.has(arn));
};

const keyIn = async (folder: string): Promise<string> => {
  const file = join(folder, 'redaction-key');
  const key = randomBytes(32).toString('hex');
  // Whoever is first makes it.
  await writeFile(file, key, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST')
      throw new BadSetting(`${file} cannot be written: ${describeFailure(error)}`, { cause: error });
  });
  return readFile(file, 'utf8');
};

/**
 * Gives functions that redact a key of hashes in place of the stack's, which is in Secrets Manager:
 * that does not run locally.
 *
 * @param folder where the key is kept. @default - it is made anew at each start
 */
export const withRedactionKey = async (functions: Specs, folder: string | undefined): Promise<Specs> => {
  const redacts = ({ environment }: FunctionSpec) => 'REDACTION_KEY' in environment;
  if (!functions.some(redacts)) return functions;
  const key = folder === undefined ? randomBytes(32).toString('hex') : await keyIn(folder);
  return withVariables(functions, { REDACTION_KEY: key }, redacts);
};

/**
 * The key that all webhooks of the local service are signed with, `whsec_` and base64: it is no secret.
 */
export const localSigningKey = `whsec_${Buffer.from('the local service, and no other!').toString('base64')}`;

/**
 * Has the function of alerts tell webhooks in place of those in Systems Manager, which does not run
 * locally, and link to this service.
 *
 * @param url of the service, without a slash at its end
 */
export const withWebhooks = (functions: Specs, url: string, webhooks: LocalWebhooks): Specs => {
  const secrets = Object.entries(webhooks).map(([name, to]) => [name, { url: to, key: localSigningKey }]);
  const variables = { WEBHOOKS: JSON.stringify(Object.fromEntries(secrets)), SERVICE_URL: url };
  return withVariables(functions, variables, ({ environment }) => 'WEBHOOKS_PREFIX' in environment);
};

/**
 * Has callers that sign, by the setting `iam`, sign for this service.
 *
 * @param url of the service, without a slash at its end
 * @param sts the endpoint that says whose role signed. @default - AWS's own
 */
export const withSts = (functions: Specs, url: string, sts: string | undefined): Specs => {
  const variables = { IAM_SERVICE_URL: url, ...(sts !== undefined && { AWS_ENDPOINT_URL_STS: sts }) };
  return withVariables(functions, variables, ({ environment }) => 'IAM_SERVICE_URL' in environment);
};

/**
 * Has people sign in at this issuer, in place of the one that the stack was made with. Functions of a stack
 * without the setting `signIn` stay as they are.
 *
 * @param url of the service, without a slash at its end
 */
export const withSignIn = (functions: Specs, url: string, settings: SignInSettings): Specs =>
  withVariables(
    functions,
    { SIGN_IN: JSON.stringify({ ...settings, resource: `${url}/mcp` }) },
    ({ environment }) => 'SIGN_IN' in environment,
  );

/**
 * Has the gateway's own answers lead to this service, in place of the deployed one.
 *
 * @param url of the service, without a slash at its end
 */
export const withOwnAnswers = (stack: StackSpec, url: string): StackSpec => {
  const deployed = getOutput(stack, 'ApiUrl').replace(/\/$/, '');
  const responses = [...stack.api.responses].map(([type, response]) => {
    const headers = Object.entries(response.headers).map(
      ([name, value]) => [name, value.replaceAll(deployed, url)] as const,
    );
    return [type, { ...response, headers: Object.fromEntries(headers) }] as const;
  });
  return { ...stack, api: { ...stack.api, responses: new Map(responses) } };
};
