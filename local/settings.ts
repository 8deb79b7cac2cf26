import { type Dialect, dialects } from '../core/foundations/wire/names.ts';
import type { LocalUpstream } from './inference.ts';
import { BadSetting } from './key.ts';

/** The settings of `npm start`, from the environment. */
export interface Settings {
  /** 0 for any free port. */
  readonly port: number;
  readonly key?: string;
  /** Which requests the service takes. @default - as cdk.json says */
  readonly dialect?: Dialect;
  /** Whether to run the example once the service is ready. */
  readonly demo: boolean;
  readonly dataDir?: string;
  readonly dynamodb?: string;
  readonly s3?: string;
  /** The upstream of model requests. @default - the echo model */
  readonly inference?: LocalUpstream;
  /** Whether the log shows every request. */
  readonly verbose: boolean;
  /** Whether events go to the local bus, which prints them. */
  readonly events?: true;
  /** Whether calls and feedback become Parquet files. */
  readonly analytics?: true;
}

const defaultPort = 8787;

const portOf = (text: string | undefined): number => {
  if (!text) return defaultPort;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new BadSetting(`PORT is ${text}: write a number up to 65535, or 0 for any free port`);
};

const dialectOf = (text: string | undefined): Dialect | undefined => {
  if (!text) return undefined;
  const known = dialects.find((dialect) => dialect === text);
  if (known !== undefined) return known;
  throw new BadSetting(`DIALECT is ${text}: write ${dialects.join(' or ')}`);
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

const switchOf = (name: string, value: string | undefined, absent: boolean): boolean => {
  if (!value) return absent;
  const on = switches[value.toLowerCase()];
  if (on !== undefined) return on;
  throw new BadSetting(`${name} is ${value}: write 1 or 0 (or true, yes, on, false, no, off)`);
};

/**
 * The endpoint of a store with an IP address. With a host name, SDKs would put each bucket's name
 * before it.
 */
const endpointOf = (name: string, value: string | undefined): string | undefined => {
  if (!value) return undefined;
  if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol))
    return value.replace(/(?<=:\/\/)localhost(?=[:/]|$)/i, '127.0.0.1');
  throw new BadSetting(
    `${name} is ${value}: write a URL like http://127.0.0.1:8000, or leave it out to start one`,
  );
};

/** The upstream of model requests: a base URL and perhaps a key. */
const upstreamOf = (baseUrl: string | undefined, key: string | undefined): LocalUpstream | undefined => {
  if (!baseUrl && key) throw new BadSetting('INFERENCE_API_KEY is set: set INFERENCE_BASE_URL too');
  if (!baseUrl) return undefined;
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol) || /[?#]/.test(baseUrl))
    throw new BadSetting(`INFERENCE_BASE_URL is ${baseUrl}: write a URL like https://api.openai.com/v1`);
  return { baseUrl, ...(key && { key }) };
};

/**
 * Reads the settings from the environment. An empty variable counts as absent.
 *
 * @throws BadSetting that names the variable and says what to write
 */
export const readSettings = (environment: NodeJS.ProcessEnv): Settings => {
  const { PORT, LOCAL_KEY: key, DEMO, DATA_DIR: dataDir, LOG, EVENTS, ANALYTICS } = environment;
  const dynamodb = endpointOf('AWS_ENDPOINT_URL_DYNAMODB', environment.AWS_ENDPOINT_URL_DYNAMODB);
  const s3 = endpointOf('AWS_ENDPOINT_URL_S3', environment.AWS_ENDPOINT_URL_S3);
  const inference = upstreamOf(environment.INFERENCE_BASE_URL, environment.INFERENCE_API_KEY);
  const dialect = dialectOf(environment.DIALECT);
  return {
    port: portOf(PORT),
    // The examples speak the service's own dialect.
    demo: switchOf('DEMO', DEMO, true) && dialect !== 'weave',
    verbose: switchOf('LOG', LOG, false),
    ...(switchOf('EVENTS', EVENTS, false) && { events: true }),
    ...(switchOf('ANALYTICS', ANALYTICS, false) && { analytics: true }),
    ...(key && { key }),
    ...(dialect && { dialect }),
    ...(dataDir && { dataDir }),
    ...(dynamodb && { dynamodb }),
    ...(s3 && { s3 }),
    ...(inference && { inference }),
  };
};
