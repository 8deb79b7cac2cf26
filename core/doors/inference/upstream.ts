import * as z from 'zod/mini';
import type { InferencePath } from './endpoints.ts';

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
