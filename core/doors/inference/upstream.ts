import * as z from 'zod/mini';
import { ServiceError } from '../../../foundations/wire/index.ts';
import type { InferencePath } from './request.ts';

/** Selects models of an upstream, and their names there. */
export interface ModelRule {
  /** A model's name. One `*` stands for any characters. */
  readonly match: string;
  /**
   * The name sent to the upstream; its `*` is what the `*` of `match` stood for. Absent: the name
   * as requested.
   */
  readonly send?: string | undefined;
}

/** How requests to an upstream are authorized. */
export type UpstreamCredentials =
  | { readonly kind: 'none' }
  /** The key itself, for the local service. */
  | { readonly kind: 'key'; readonly key: string }
  /** The name or ARN of the secret with the key. */
  | { readonly kind: 'secret'; readonly secret: string }
  /** Signed with the function's own role, for Amazon Bedrock in a region. */
  | { readonly kind: 'role'; readonly region: string };

/** A service that speaks OpenAI's API. */
export interface Upstream {
  readonly name: string;
  /** Without a trailing slash, query and fragment: an endpoint's path is appended. */
  readonly baseUrl: string;
  readonly models: readonly ModelRule[];
  readonly credentials: UpstreamCredentials;
}

const upstreamSchema = z.object({
  name: z.string(),
  models: z.array(z.union([z.string(), z.object({ match: z.string(), send: z.optional(z.string()) })])),
  baseUrl: z.optional(z.string()),
  keySecret: z.optional(z.string()),
  key: z.optional(z.string()),
  bedrock: z.optional(z.union([z.boolean(), z.object({ region: z.optional(z.string()) })])),
});

type UpstreamSetting = z.output<typeof upstreamSchema>;

const credentialsOf = ({ bedrock, keySecret, key }: UpstreamSetting, region: string): UpstreamCredentials => {
  if (bedrock) return { kind: 'role', region: (bedrock !== true && bedrock.region) || region };
  if (keySecret !== undefined) return { kind: 'secret', secret: keySecret };
  return key === undefined ? { kind: 'none' } : { kind: 'key', key };
};

const toUpstream = (setting: UpstreamSetting, region: string): Upstream => {
  const credentials = credentialsOf(setting, region);
  const bedrockUrl =
    credentials.kind === 'role'
      ? `https://bedrock-runtime.${credentials.region}.amazonaws.com/openai/v1`
      : undefined;
  const baseUrl = setting.baseUrl ?? bedrockUrl;
  if (baseUrl === undefined) throw new Error(`upstream ${setting.name} has no baseUrl`);
  return {
    name: setting.name,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    models: setting.models.map((rule) => (typeof rule === 'string' ? { match: rule } : rule)),
    credentials,
  };
};

/**
 * Parses the setting `inferenceUpstreams`, which was validated at synthesis. An upstream may also
 * have a literal `key`, which only the local service sets.
 *
 * @param json a list of upstreams in order of priority
 * @param region Amazon Bedrock's region for upstreams that name none
 * @throws Error if it is not such a list
 */
export const parseUpstreams = (json: string, region: string): Upstream[] =>
  z
    .array(upstreamSchema)
    .parse(JSON.parse(json))
    .map((setting) => toUpstream(setting, region));

/** The model's name at the upstream by a rule; undefined if the rule does not match. */
const nameByRule = ({ match, send }: ModelRule, model: string): string | undefined => {
  const star = match.indexOf('*');
  if (star < 0) return match === model ? (send ?? model) : undefined;
  const [head, tail] = [match.slice(0, star), match.slice(star + 1)];
  if (model.length < head.length + tail.length || !model.startsWith(head) || !model.endsWith(tail))
    return undefined;
  const rest = model.slice(head.length, model.length - tail.length);
  // A function, because a replacement text would interpret `$&` in a client's text.
  return send === undefined ? model : send.replace('*', () => rest);
};

/** An upstream and a model's name there. */
export interface UpstreamModel {
  readonly upstream: Upstream;
  readonly model: string;
}

/**
 * Chooses the first upstream with a matching rule, by its first such rule; undefined if none
 * matches.
 */
export const chooseUpstream = (upstreams: readonly Upstream[], model: string): UpstreamModel | undefined => {
  for (const upstream of upstreams) {
    for (const rule of upstream.models) {
      const sent = nameByRule(rule, model);
      if (sent !== undefined) return { upstream, model: sent };
    }
  }
  return undefined;
};

/**
 * The URL of a request: the base URL, a forwarded path, and the API version as query. Nothing from
 * a client reaches host or path.
 */
export const targetOf = (
  { baseUrl }: Pick<Upstream, 'baseUrl'>,
  path: InferencePath,
  apiVersion: string | null | undefined,
): URL => {
  const url = new URL(baseUrl + path);
  if (apiVersion) url.searchParams.set('api-version', apiVersion);
  return url;
};

const upstreamFailure = (status: number, type: string, msg: string, cause?: unknown): ServiceError =>
  new ServiceError(status, [{ loc: ['upstream'], msg, type }], { cause });

/** 404, as OpenAI answers: no rule matches the model. */
export const unknownModel = (model: string): ServiceError =>
  new ServiceError(404, [
    {
      loc: ['body', 'model'],
      msg: `no upstream is configured for the model ${model}`,
      type: 'model_not_found',
    },
  ]);

/** 502: the service is deployed without upstreams. */
export const noUpstream = (): ServiceError =>
  upstreamFailure(
    502,
    'no_upstream',
    'no upstream is configured: list upstreams in the setting inferenceUpstreams (docs/inference.md)',
  );

/** 502: the upstream cannot be reached, or closed the connection before its answer. */
export const upstreamUnreachable = (upstream: string, cause: unknown): ServiceError =>
  upstreamFailure(
    502,
    'upstream_unreachable',
    `the upstream ${upstream} cannot be reached or closed the connection`,
    cause,
  );

/** 502: the service cannot read its key for the upstream. */
export const upstreamKeyUnreadable = (upstream: string, cause: unknown): ServiceError =>
  upstreamFailure(502, 'upstream_key', `the key of the upstream ${upstream} cannot be read`, cause);

/** 502: the upstream answered with a redirect, which the service does not follow. */
export const upstreamRedirected = (upstream: string): ServiceError =>
  upstreamFailure(
    502,
    'upstream_redirect',
    `the upstream ${upstream} answered with a redirect: correct its baseUrl`,
  );

/** 504: no answer within the time that the caller, or else the service, gives the request. */
export const upstreamTimedOut = (
  upstream: string,
  seconds: number,
  isCallersTimeout: boolean,
): ServiceError =>
  new ServiceError(
    504,
    [
      {
        loc: ['upstream'],
        msg: `the upstream ${upstream} did not answer within ${seconds} s`,
        type: 'timeout',
      },
    ],
    { isCallersTimeout },
  );
