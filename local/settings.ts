import { readFile, rename, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { describeFailure, loopback } from 'aws-stand-in';
import { z } from 'zod';
import { isWebhookName, urlProblem, webhookNameRule } from '../core/workers/alerts/tell/index.ts';
import {
  formatKey,
  type Key,
  makeKey,
  newRecord,
  parseKey,
  putKey,
  roles,
  type SignInSettings,
} from '../foundations/auth/index.ts';
import type { Table } from '../foundations/storage/index.ts';
import { localSignIn, localUpstreams, readConfig } from '../lib/config.ts';
import type { LocalUpstream, LocalUpstreams } from './inference.ts';

/** URLs of webhooks by their names, the same for all projects. */
export type LocalWebhooks = Readonly<Record<string, string>>;

/** An issuer where people sign in, or that one is started. */
export type LocalSignIn = 'local' | SignInSettings;

/** A setting of the operator is wrong. The message says what to write instead. */
export class BadSetting extends Error {
  override readonly name = 'BadSetting';
}

interface LocalKeyOptions {
  /** The key as the operator set it. @default - the key in the folder, or a new one */
  readonly configured?: string;
  /** The folder for a new key, absolute. @default - the key is not stored */
  readonly folder?: string;
}

/** A key that may do everything. */
export interface LocalKey {
  readonly key: Key;
  /** The file with the key, absolute; absent if the operator set the key or there is no folder. */
  readonly file?: string;
}

const form = 'svc_<16 of 0-9a-z>_<64 hex digits>';

const readKeyFile = async (file: string): Promise<string | undefined> => {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new BadSetting(`${file} holds the service's key but cannot be read: ${error}`, {
      cause: error,
    });
  }
};

/**
 * Writes a key to a file that only its owner can read. Renaming makes the file complete or absent.
 *
 * @throws BadSetting if it cannot be written, say because the disk is full
 */
const writeKeyFile = async (file: string, key: Key): Promise<void> => {
  const draft = `${file}.draft`;
  try {
    await writeFile(draft, `${formatKey(key)}\n`, { mode: 0o600 });
    await rename(draft, file);
  } catch (error) {
    throw new BadSetting(`${file} cannot be written: ${describeFailure(error)}`, { cause: error });
  }
};

/**
 * Finds the service's key: the operator's, else the folder's, else a new one that the folder
 * stores.
 *
 * @throws BadSetting if the operator's or the stored text is not a key of this service
 */
export const findLocalKey = async ({ configured, folder }: LocalKeyOptions): Promise<LocalKey> => {
  if (configured !== undefined) {
    const key = parseKey(configured);
    if (key) return { key };
    throw new BadSetting(`LOCAL_KEY should be ${form}; leave it out to make a new key`);
  }
  if (folder === undefined) return { key: makeKey() };
  const file = join(folder, 'key');
  const stored = await readKeyFile(file);
  const key = stored === undefined ? makeKey() : parseKey(stored);
  if (!key) throw new BadSetting(`${file} should be ${form}; delete it to make a new key`);
  if (stored === undefined) await writeKeyFile(file, key);
  return { key, file };
};

/**
 * Stores the key with every role on every project, for the user `local`. Storing it again changes
 * nothing.
 *
 * @throws BadSetting if its id belongs to another key or it was revoked
 */
export const storeLocalKey = async (table: Table, { key, file }: LocalKey): Promise<void> => {
  const grants = roles.map((role) => ({ scope: '*', role }) as const);
  const record = newRecord(key, { user: 'local', grants }, Date.now() * 1000);
  if (await putKey(table, record)) return;
  const remedy = file === undefined ? 'set LOCAL_KEY to another one' : `delete ${file} to make a new key`;
  throw new BadSetting(`the key ${key.id} was revoked or differs in this data: ${remedy}`);
};

/** The settings of `npm start`, from the environment. */
export interface LocalSettings {
  /** 0 for any free port. */
  readonly port: number;
  /** The address that the port is on. @default - the loopback address */
  readonly address?: string;
  /** Names of this machine by which clients may reach the port, beside its own. */
  readonly hosts?: readonly string[];
  readonly key?: string;
  /** Whether to run the example once the service is ready. */
  readonly demo: boolean;
  readonly dataDir?: string;
  readonly dynamodb?: string;
  /** Whether the data are in Amazon's DynamoDB Local. @default - they are in the embedded store */
  readonly dynamodbLocal?: true;
  readonly s3?: string;
  /** The upstream of model requests. @default - the echo model */
  readonly inference?: LocalUpstream;
  /** Several upstreams, which go before that one. @default - there is that one */
  readonly upstreams?: LocalUpstreams;
  /** Whether the log shows every request. */
  readonly verbose: boolean;
  /** Settings of the stack that override those of cdk.json. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The URLs of webhooks that alerts can tell, by their names. */
  readonly webhooks?: LocalWebhooks;
  /** The endpoint of an STS that says whose role signed. @default - AWS's own */
  readonly sts?: string;
  /** Where people sign in; `local` for a provider that is started. @default - there are keys alone */
  readonly signIn?: LocalSignIn;
}

const defaultPort = 8787;

const parsePort = (text: string | undefined): number => {
  if (!text) return defaultPort;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new BadSetting(`PORT is ${text}: write a number up to 65535, or 0 for any free port`);
};

/**
 * The address that the port is on. Whoever can reach it from elsewhere needs a key that the operator gave
 * them: the one that is made at the start is printed, and signs in whoever opens the link below it.
 */
const toAddress = (host: string | undefined, key: string | undefined): string | undefined => {
  if (!host || host === loopback || host === 'localhost') return undefined;
  if (isIP(host) === 0)
    throw new BadSetting(
      `HOST is ${host}: write an IP address of this machine, 0.0.0.0 for all, or leave it out for loopback alone`,
    );
  if (key) return host;
  throw new BadSetting(
    `HOST is ${host}, which others can reach: set LOCAL_KEY to a key of your own, ${form}. Make one by: ${makingKey}`,
  );
};

/** What prints a new key. */
const makingKey = `node -p "const {randomBytes: r} = require('crypto'); 'svc_' + r(8).toString('hex') + '_' + r(32).toString('hex')"`;

const hostForm = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;

/** Names of this machine, separated by commas, as a `Host` header has them. */
const parseHosts = (text: string | undefined): string[] | undefined => {
  if (!text) return undefined;
  const hosts = text.split(',').map((host) => host.trim().toLowerCase());
  const bad = hosts.find((host) => !hostForm.test(host));
  if (bad === undefined) return hosts;
  throw new BadSetting(
    `ALLOWED_HOSTS has ${bad || 'an empty name'}: write names without ports, such as host.docker.internal,mybox.test`,
  );
};

const switches: Readonly<Record<string, boolean>> = {
  1: true,
  true: true,
  yes: true,
  on: true,
  0: false,
  false: false,
  no: false,
  off: false,
};

/** What a variable says; `absent` if it is not set. */
const readSwitch = (environment: NodeJS.ProcessEnv, name: string, absent = false): boolean => {
  const value = environment[name];
  if (!value) return absent;
  const on = switches[value.toLowerCase()];
  if (on !== undefined) return on;
  throw new BadSetting(`${name} is ${value}: write 1 or 0 (or true, yes, on, false, no, off)`);
};

/**
 * The endpoint of a store with an IP address. With a host name, SDKs would put each bucket's name
 * before it.
 */
const readEndpoint = (environment: NodeJS.ProcessEnv, name: string): string | undefined => {
  const value = environment[name];
  if (!value) return undefined;
  if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol))
    return value.replace(/(?<=:\/\/)localhost(?=[:/]|$)/i, '127.0.0.1');
  throw new BadSetting(
    `${name} is ${value}: write a URL like http://127.0.0.1:8000, or leave it out to start one`,
  );
};

/** The upstream of model requests: a base URL and perhaps a key. */
const toUpstream = (baseUrl: string | undefined, key: string | undefined): LocalUpstream | undefined => {
  if (!baseUrl && key) throw new BadSetting('INFERENCE_API_KEY is set: set INFERENCE_BASE_URL too');
  if (!baseUrl) return undefined;
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol) || /[?#]/.test(baseUrl))
    throw new BadSetting(`INFERENCE_BASE_URL is ${baseUrl}: write a URL like https://api.openai.com/v1`);
  return { baseUrl, ...(key && { key }) };
};

/** Reads JSON by its schema. Values, which may be keys, stay out of what is said of them. */
const parseJsonSetting = <Schema extends z.ZodType>(
  name: string,
  text: string,
  schema: Schema,
): z.output<Schema> => {
  const { success, data, error } = schema.safeParse(text);
  if (success) return data;
  const problems = error.issues.map((issue) => {
    const place = issue.path.map((key) => `[${JSON.stringify(key)}]`).join('');
    const what =
      issue.code === 'unrecognized_keys'
        ? `has ${issue.keys.join(', ')}: there is no such field`
        : issue.message;
    return `${name}${place}: ${what}`;
  });
  throw new BadSetting(problems.join('\n'));
};

/** Several upstreams, as the setting `inferenceUpstreams` has them. */
const parseUpstreams = (text: string | undefined): LocalUpstreams | undefined =>
  text ? parseJsonSetting('INFERENCE_UPSTREAMS', text, localUpstreams) : undefined;

/** Where people sign in: at an issuer, as the setting `signIn` has it, or at one that is started. */
const readSignIn = (environment: NodeJS.ProcessEnv): LocalSignIn | undefined => {
  const { SIGN_IN: text = '' } = environment;
  if (text.trimStart().startsWith('{')) return parseJsonSetting('SIGN_IN', text, localSignIn);
  return readSwitch(environment, 'SIGN_IN') ? 'local' : undefined;
};

const webhookExample = '{"ops": "http://127.0.0.1:9000/hook"}';

/** Reads URLs by the names of webhooks. What is wrong with a URL is said without it: it is a secret. */
const parseWebhooks = (text: string | undefined): LocalWebhooks | undefined => {
  if (!text) return undefined;
  const bad = (what: string) =>
    new BadSetting(`WEBHOOKS ${what}: write names and URLs as JSON, ${webhookExample}`);
  let parsedText: unknown;
  try {
    parsedText = JSON.parse(text);
  } catch {
    throw bad('is not JSON');
  }
  const { success, data } = z.record(z.string(), z.string()).safeParse(parsedText);
  if (!success) throw bad('is not an object of strings');
  for (const [name, url] of Object.entries(data)) {
    if (!isWebhookName(name)) throw bad(`has the name ${name}, which ${webhookNameRule}`);
    const problem = urlProblem(url, { loopback: true });
    if (problem !== undefined) throw bad(`has a URL for ${name} that cannot be used: ${problem}`);
  }
  return data;
};

/** Settings of the stack that a variable switches on, with what they are then. */
const switchedSettings: Readonly<Record<string, unknown>> = {
  events: true,
  analytics: true,
  // A machine has few processors.
  evaluators: { concurrency: 2 },
  alerts: true,
  limits: true,
  iam: true,
};

/** What the stack is made with, whoever the issuer: its functions get the issuer at the start. */
const signInPlaceholder = {
  issuer: 'https://issuer.example',
  clientId: 'pennytrace',
  admins: ['ada@example.com'],
};

/** Settings of the stack that are what their variable says. */
const textSettings = ['redact', 'corsOrigins', 'environmentSources'];

/** The variable of a setting: `CORS_ORIGINS` for `corsOrigins`. */
const toVariable = (setting: string): string => setting.replace(/[A-Z]/g, '_$&').toUpperCase();

/** The settings of the stack that variables of their names give, checked under those names. */
const readStackSettings = (environment: NodeJS.ProcessEnv): Record<string, unknown> => {
  const texts = textSettings
    .map((setting) => [setting, environment[toVariable(setting)]])
    .filter(([, text]) => text);
  const on = Object.entries(switchedSettings).filter(([name]) => readSwitch(environment, toVariable(name)));
  const settings = Object.fromEntries([...texts, ...on]);
  readConfig(settings, toVariable);
  return settings;
};

/**
 * Reads the settings from the environment. An empty variable counts as absent.
 *
 * @throws BadSetting or SettingsError that names the variable and says what to write
 */
export const readLocalSettings = (environment: NodeJS.ProcessEnv): LocalSettings => {
  const { LOCAL_KEY: key, DATA_DIR: dataDir } = environment;
  const dynamodb = readEndpoint(environment, 'AWS_ENDPOINT_URL_DYNAMODB');
  const dynamodbLocal = readSwitch(environment, 'DYNAMODB_LOCAL');
  if (dynamodb && dynamodbLocal)
    throw new BadSetting('DYNAMODB_LOCAL and AWS_ENDPOINT_URL_DYNAMODB are both set: leave one of them out');
  const s3 = readEndpoint(environment, 'AWS_ENDPOINT_URL_S3');
  const sts = readEndpoint(environment, 'AWS_ENDPOINT_URL_STS');
  const inference = toUpstream(environment.INFERENCE_BASE_URL, environment.INFERENCE_API_KEY);
  const upstreams = parseUpstreams(environment.INFERENCE_UPSTREAMS);
  if (environment.DIALECT)
    throw new BadSetting(
      'DIALECT is gone, leave it out: Weave’s SDKs are served below /weave of every service (docs/weave.md)',
    );
  const webhooks = parseWebhooks(environment.WEBHOOKS);
  const signIn = readSignIn(environment);
  const placeholder = { ...signInPlaceholder, ...(typeof signIn === 'object' && { token: signIn.token }) };
  const hosts = parseHosts(environment.ALLOWED_HOSTS);
  const address = toAddress(environment.HOST, key);
  return {
    port: parsePort(environment.PORT),
    demo: readSwitch(environment, 'DEMO', true),
    verbose: readSwitch(environment, 'LOG'),
    settings: { ...readStackSettings(environment), ...(signIn && { signIn: placeholder }) },
    ...(address && { address }),
    ...(webhooks && { webhooks }),
    ...(signIn && { signIn }),
    ...(hosts && { hosts }),
    ...(key && { key }),
    ...(dataDir && { dataDir }),
    ...(dynamodb && { dynamodb }),
    ...(dynamodbLocal && { dynamodbLocal }),
    ...(s3 && { s3 }),
    ...(sts && { sts }),
    ...(inference && { inference }),
    ...(upstreams && { upstreams }),
  };
};
