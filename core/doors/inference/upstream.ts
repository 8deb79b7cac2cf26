import * as z from 'zod/mini';
import { ServiceError } from '../../../foundations/wire/index.ts';
import {
  bedrockEndpoints,
  bedrockOrigin,
  bedrockServices,
  bedrockWays,
  ruleApis,
  type WayRule,
} from './bedrock.ts';
import type { Api } from './protocols/index.ts';
import type { InferencePath } from './request.ts';

/** Selects models of an upstream, and their names there. Bedrock's say the way to the model, too. */
export interface ModelRule extends WayRule {
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

/** Where an upstream answers, and what it speaks. URLs have no trailing slash, query or fragment. */
export type UpstreamPlace =
  /** An endpoint's path is appended to the base URL. */
  | { readonly speaks: 'openai' | 'anthropic'; readonly baseUrl: string }
  /** Amazon Bedrock; at another origin than its own only in the local service. */
  | { readonly speaks: 'bedrock'; readonly region: string; readonly origin: string | undefined };

/** A service that answers model requests. */
export interface Upstream {
  readonly name: string;
  readonly place: UpstreamPlace;
  readonly models: readonly ModelRule[];
  readonly credentials: UpstreamCredentials;
  /** The longest time until the first byte of an answer, in ms; undefined for any. */
  readonly firstByteMs: number | undefined;
}

const ruleSchema = z.object({
  match: z.string(),
  send: z.optional(z.string()),
  api: z.optional(z.enum(ruleApis)),
  endpoint: z.optional(z.enum(bedrockEndpoints)),
});

const upstreamSchema = z.object({
  name: z.string(),
  models: z.array(z.union([z.string(), ruleSchema])),
  api: z.optional(z.enum(['openai', 'anthropic'])),
  baseUrl: z.optional(z.string()),
  keySecret: z.optional(z.string()),
  key: z.optional(z.string()),
  bedrock: z.optional(z.union([z.boolean(), z.object({ region: z.optional(z.string()) })])),
  firstByteSeconds: z.optional(z.number()),
});

type UpstreamSetting = z.output<typeof upstreamSchema>;

const toCredentials = ({ bedrock, keySecret, key }: UpstreamSetting, region: string): UpstreamCredentials => {
  if (bedrock) return { kind: 'role', region: (bedrock !== true && bedrock.region) || region };
  if (keySecret !== undefined) return { kind: 'secret', secret: keySecret };
  return key === undefined ? { kind: 'none' } : { kind: 'key', key };
};

const toPlace = (
  { name, api = 'openai', baseUrl }: UpstreamSetting,
  credentials: UpstreamCredentials,
): UpstreamPlace => {
  const url = baseUrl?.replace(/\/+$/, '');
  if (credentials.kind === 'role') return { speaks: 'bedrock', region: credentials.region, origin: url };
  if (url === undefined) throw new Error(`upstream ${name} has no baseUrl`);
  return { speaks: api, baseUrl: url };
};

const toUpstream = (setting: UpstreamSetting, region: string): Upstream => {
  const { name, models, firstByteSeconds } = setting;
  const credentials = toCredentials(setting, region);
  return {
    name,
    place: toPlace(setting, credentials),
    models: models.map((rule) => (typeof rule === 'string' ? { match: rule } : rule)),
    credentials,
    firstByteMs: firstByteSeconds === undefined ? undefined : firstByteSeconds * 1000,
  };
};

/**
 * Parses the setting `inferenceUpstreams`, which was validated at synthesis. The local service's may
 * also have a literal `key`, and Bedrock a `baseUrl` in place of its hosts.
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
export const nameByRule = (
  { match, send }: Pick<ModelRule, 'match' | 'send'>,
  model: string,
): string | undefined => {
  const star = match.indexOf('*');
  if (star < 0) return match === model ? (send ?? model) : undefined;
  const head = match.slice(0, star);
  const tail = match.slice(star + 1);
  if (model.length < head.length + tail.length || !model.startsWith(head) || !model.endsWith(tail))
    return undefined;
  const rest = model.slice(head.length, model.length - tail.length);
  // A function, because a replacement text would interpret `$&` in a client's text.
  return send === undefined ? model : send.replace('*', () => rest);
};

/** An upstream, a model's name there, and the rule that leads there. */
export interface UpstreamModel {
  readonly upstream: Upstream;
  readonly model: string;
  readonly rule: ModelRule;
}

/**
 * The upstreams that have a rule for a model, each by its first such rule, in the order in which they
 * are asked.
 */
export const candidatesFor = (upstreams: readonly Upstream[], model: string): UpstreamModel[] =>
  upstreams.flatMap((upstream) => {
    for (const rule of upstream.models) {
      const sent = nameByRule(rule, model);
      if (sent !== undefined) return [{ upstream, model: sent, rule }];
    }
    return [];
  });

/** A way to ask an upstream for a model. */
export interface Way {
  readonly api: Api;
  /** What comes before an endpoint's path. */
  readonly baseUrl: string;
  /** The paths whose requests it takes as they are. */
  readonly paths: readonly InferencePath[];
  /** What a signature calls the service; undefined for a service with a key. */
  readonly service?: string;
}

const openAiPaths = ['/chat/completions', '/completions', '/embeddings', '/responses'] as const;
const anthropicPaths = ['/messages', '/messages/count_tokens'] as const;

/** The ways to a model, those first that are to be taken. Only Bedrock has several, or none. */
export const waysTo = ({ upstream: { place }, model, rule }: UpstreamModel): readonly Way[] => {
  if (place.speaks !== 'bedrock') {
    const isOpenAi = place.speaks === 'openai';
    return [
      {
        api: isOpenAi ? 'chat' : 'messages',
        baseUrl: place.baseUrl,
        paths: isOpenAi ? openAiPaths : anthropicPaths,
      },
    ];
  }
  const { region, origin } = place;
  const { ways = [] } = bedrockWays(model, rule);
  return ways.map(({ api, endpoint, prefix, paths }) => ({
    api,
    baseUrl: (origin ?? bedrockOrigin(endpoint, region)) + prefix,
    paths,
    service: bedrockServices[endpoint],
  }));
};

/**
 * The URL of a request: the base URL, a path, and the API version as query. Nothing from a client
 * reaches host or path.
 */
export const toTargetUrl = (
  { baseUrl }: Pick<Way, 'baseUrl'>,
  path: string,
  apiVersion: string | null | undefined,
): URL => {
  const url = new URL(baseUrl + path);
  if (apiVersion) url.searchParams.set('api-version', apiVersion);
  return url;
};

const upstreamFailure = (status: number, type: string, msg: string, cause?: unknown): ServiceError =>
  new ServiceError(status, [{ loc: ['upstream'], msg, type }], { cause });

/** 404, as OpenAI answers: no rule matches the model. */
export const unknownModel = (model: string, loc: readonly string[] = ['body', 'model']): ServiceError =>
  new ServiceError(404, [
    {
      loc,
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

/** 422: no upstream of the model takes requests of the path, and they cannot be translated. */
export const pathNotTaken = (path: InferencePath, { upstream, model }: UpstreamModel): ServiceError =>
  new ServiceError(422, [
    {
      loc: ['path'],
      msg: `the upstream ${upstream.name} takes no requests to ${path} for the model ${model}`,
      type: 'path_not_taken',
    },
  ]);

/** 504: no byte of an answer within the time that the upstream's setting gives it. */
export const upstreamSilent = (upstream: string, ms: number): ServiceError =>
  upstreamFailure(504, 'first_byte', `the upstream ${upstream} gave no first byte within ${ms / 1000} s`);

/** 502: the upstream's answer is not of the API that it speaks, so it cannot be translated. */
export const upstreamUnreadable = (upstream: string, what: string): ServiceError =>
  upstreamFailure(502, 'upstream_unreadable', `the upstream ${upstream} answered with ${what}`);

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
