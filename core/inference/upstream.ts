import * as z from 'zod/mini';
import type { InferencePath } from './endpoints.ts';

/** Which models go to an upstream, and under which name. */
export interface ModelRule {
  /** A model's name, in which one `*` stands for any characters. */
  readonly match: string;
  /**
   * The name that the upstream gets, in which `*` is what it stood for in `match`. Absent: the name
   * as it came.
   */
  readonly send?: string | undefined;
}

/** How requests to an upstream show that they may. */
export type UpstreamCredentials =
  | { readonly kind: 'none' }
  /** The key itself: for the local service. */
  | { readonly kind: 'key'; readonly key: string }
  /** The name or ARN of the secret that the key is in. */
  | { readonly kind: 'secret'; readonly secret: string }
  /** Signed with the function's own role, for Amazon Bedrock in a region. */
  | { readonly kind: 'role'; readonly region: string };

/** A service that speaks OpenAI's API. */
export interface Upstream {
  readonly name: string;
  /** Without a slash at its end, query and fragment: the path of an endpoint follows it. */
  readonly baseUrl: string;
  readonly models: readonly ModelRule[];
  readonly credentials: UpstreamCredentials;
}

const described = z.object({
  name: z.string(),
  models: z.array(z.union([z.string(), z.object({ match: z.string(), send: z.optional(z.string()) })])),
  baseUrl: z.optional(z.string()),
  keySecret: z.optional(z.string()),
  key: z.optional(z.string()),
  bedrock: z.optional(z.union([z.boolean(), z.object({ region: z.optional(z.string()) })])),
});

type Described = z.output<typeof described>;

const credentialsOf = ({ bedrock, keySecret, key }: Described, region: string): UpstreamCredentials => {
  if (bedrock) return { kind: 'role', region: (bedrock !== true && bedrock.region) || region };
  if (keySecret !== undefined) return { kind: 'secret', secret: keySecret };
  return key === undefined ? { kind: 'none' } : { kind: 'key', key };
};

const toUpstream = (given: Described, region: string): Upstream => {
  const credentials = credentialsOf(given, region);
  const bedrockUrl =
    credentials.kind === 'role'
      ? `https://bedrock-runtime.${credentials.region}.amazonaws.com/openai/v1`
      : undefined;
  const baseUrl = given.baseUrl ?? bedrockUrl;
  if (baseUrl === undefined) throw new Error(`upstream ${given.name} has no baseUrl`);
  return {
    name: given.name,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    models: given.models.map((rule) => (typeof rule === 'string' ? { match: rule } : rule)),
    credentials,
  };
};

/**
 * Reads the upstreams as the setting `inferenceUpstreams` describes them, checked when the stack
 * was synthesized. Beside what the setting may say, a `key` may stand here in the open, which only
 * the local service gives.
 *
 * @param json a list, in the order in which upstreams are asked
 * @param region the region that Amazon Bedrock is asked in where an upstream names none
 * @throws Error where it is no such list
 */
export const parseUpstreams = (json: string, region: string): Upstream[] =>
  z
    .array(described)
    .parse(JSON.parse(json))
    .map((given) => toUpstream(given, region));

/** What a model is called upstream by a rule; undefined where the rule is not for it. */
const sentBy = ({ match, send }: ModelRule, model: string): string | undefined => {
  const star = match.indexOf('*');
  if (star < 0) return match === model ? (send ?? model) : undefined;
  const [head, tail] = [match.slice(0, star), match.slice(star + 1)];
  if (model.length < head.length + tail.length || !model.startsWith(head) || !model.endsWith(tail))
    return undefined;
  const rest = model.slice(head.length, model.length - tail.length);
  // A function, since `$&` in a client's text would mean something to replace.
  return send === undefined ? model : send.replace('*', () => rest);
};

/** The upstream of a model, and what the model is called there. */
export interface Chosen {
  readonly upstream: Upstream;
  readonly model: string;
}

/**
 * Chooses the first upstream with a rule for the model, by its first such rule; undefined where
 * there is none.
 */
export const chooseUpstream = (upstreams: readonly Upstream[], model: string): Chosen | undefined => {
  for (const upstream of upstreams) {
    for (const rule of upstream.models) {
      const sent = sentBy(rule, model);
      if (sent !== undefined) return { upstream, model: sent };
    }
  }
  return undefined;
};

/**
 * Where a request goes: the upstream's base URL, one of the known paths, and the API version as its
 * query. Nothing that a client sends has a part in host or path.
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
