import type { Api } from './protocols/index.ts';
import type { InferencePath } from './request.ts';

/*
 * Which of Amazon Bedrock's APIs a model speaks, and where. AWS has it in tables that change, and whose
 * copies disagree, so the rule is data: docs/decisions/0262 says how it was made.
 */

/** Where the families below come from, and when they were read. */
export const bedrockSource = {
  readAt: '2026-11-24',
  pages: [
    'https://docs.aws.amazon.com/bedrock/latest/userguide/models-api-compatibility.html',
    'https://docs.aws.amazon.com/bedrock/latest/userguide/models-endpoint-availability.html',
    'https://docs.aws.amazon.com/bedrock/latest/userguide/inference-messages-api.html',
    'https://docs.aws.amazon.com/bedrock/latest/userguide/inference-responses-api.html',
  ],
} as const;

/** Bedrock's two endpoints. Their ids of models differ. */
export const bedrockEndpoints = ['runtime', 'mantle'] as const;
export type BedrockEndpoint = (typeof bedrockEndpoints)[number];

/** What a rule of a model may call the APIs. */
export const ruleApis = ['openai', 'anthropic', 'converse'] as const;
export type RuleApi = (typeof ruleApis)[number];

/** A way to ask Bedrock for a model. */
export interface BedrockWay {
  readonly endpoint: BedrockEndpoint;
  readonly api: Api;
  /** What the paths begin with at the endpoint. */
  readonly prefix: string;
  /** The paths whose requests it takes as they are. */
  readonly paths: readonly InferencePath[];
}

/** What a rule may say about the way to a model. */
export interface WayRule {
  readonly api?: RuleApi | undefined;
  readonly endpoint?: BedrockEndpoint | undefined;
}

const converse: BedrockWay = { endpoint: 'runtime', api: 'converse', prefix: '', paths: [] };

const messages: BedrockWay = {
  endpoint: 'runtime',
  api: 'messages',
  prefix: '/anthropic/v1',
  paths: ['/messages'],
};

const chat: BedrockWay = {
  endpoint: 'runtime',
  api: 'chat',
  prefix: '/openai/v1',
  paths: ['/chat/completions'],
};

const chatAndResponses: BedrockWay = { ...chat, paths: ['/chat/completions', '/responses'] };

const mantleMessages: BedrockWay = {
  ...messages,
  endpoint: 'mantle',
  paths: ['/messages', '/messages/count_tokens'],
};

/** Mantle serves OpenAI's own models below another prefix than all others. */
const mantleOpenAi: BedrockWay = { ...chatAndResponses, endpoint: 'mantle' };

const mantleChat: BedrockWay = { ...mantleOpenAi, prefix: '/v1' };

/** Models of one kind, by their ids without a geography. */
interface Family {
  readonly ids: RegExp;
  /** Whether ids of inference profiles belong to it, too. @default true */
  readonly profiles?: false;
  /** The way that is usually taken comes first. */
  readonly ways?: readonly BedrockWay[];
  /** Why there is no way to them. */
  readonly refused?: string;
}

/** A date or a version: only ids of `bedrock-runtime` have one. */
const versioned = String.raw`(?:-\d{8}|-v\d|-\d+:\d|:\d)`;
/** Ids of Mantle have neither of them. */
const unversioned = `(?!.*${versioned})`;

/** All families. The first that an id belongs to counts. */
const families: readonly Family[] = [
  {
    ids: /embed|^twelvelabs\.marengo/,
    refused: 'it makes embeddings, and Bedrock has them by InvokeModel alone',
  },
  { ids: /rerank/, refused: 'it ranks documents, and Bedrock has that by InvokeModel alone' },
  {
    ids: /^amazon\.(?:nova-canvas|titan-image)|^stability\./,
    refused: 'it makes images, and Bedrock has them by InvokeModel alone',
  },
  {
    ids: /^amazon\.nova-reel|^luma\./,
    refused: 'it makes videos, and Bedrock has them by StartAsyncInvoke alone',
  },
  {
    ids: /^amazon\.nova-(?:\d-)?sonic/,
    refused: 'it speaks and listens, and Bedrock has that by InvokeModelWithBidirectionalStream alone',
  },
  {
    ids: /^amazon\.titan-tg1-large|^twelvelabs\.pegasus/,
    refused: 'Bedrock has it by InvokeModel alone',
  },
  // They are older than tools and images.
  { ids: /^anthropic\.claude-(?:instant|v2)/, ways: [converse] },
  { ids: new RegExp(`^anthropic\\.${unversioned}`), profiles: false, ways: [mantleMessages] },
  { ids: /^anthropic\./, ways: [messages, converse] },
  { ids: new RegExp(`^openai\\.gpt-oss-${unversioned}`), profiles: false, ways: [mantleChat] },
  { ids: /^openai\.gpt-oss-/, ways: [chat, converse] },
  { ids: /^openai\.gpt-5(?:\.[0-5])?(?![.\d])/, profiles: false, ways: [mantleOpenAi] },
  { ids: /^openai\./, ways: [chatAndResponses] },
  { ids: /^moonshot(?:ai)?\.kimi-k2-thinking|^deepseek\.r1/, ways: [converse] },
  { ids: /^(?:deepseek|minimax|moonshotai|moonshot|qwen|zai)\./, ways: [chat, converse] },
  // Converse serves nearly all other models of text, those too that are not known here.
  { ids: /./, ways: [converse] },
];

/** The geography that ids of cross-region inference profiles begin with. */
const geography = /^(?:apac|au|ca|eu|global|jp|us|us-gov)\.(?=[^.]+\.)/;

/** A model's id without the geography of an inference profile. */
export const withoutGeography = (id: string): string => id.replace(geography, '');

/** A way that AWS's tables do not have for a model, as a rule says. */
const unlisted = ({ api, endpoint = 'runtime' }: WayRule): BedrockWay | undefined => {
  if (api === 'converse') return endpoint === 'mantle' ? undefined : converse;
  if (api === 'anthropic') return endpoint === 'mantle' ? mantleMessages : messages;
  return endpoint === 'mantle' ? mantleChat : chatAndResponses;
};

/** The API of a rule, as translations name it. */
const apis: Readonly<Record<RuleApi, Api>> = { openai: 'chat', anthropic: 'messages', converse: 'converse' };

/** The ways to a model, or why there is none. */
export type BedrockWays =
  | { readonly ways: readonly BedrockWay[]; readonly problem?: never }
  | { readonly ways?: never; readonly problem: string };

/**
 * The ways to a model, those first that are to be taken.
 *
 * @param id the id of a model or an inference profile
 * @param rule what its rule says, which goes before AWS's tables
 */
export const bedrockWays = (id: string, rule: WayRule): BedrockWays => {
  const model = withoutGeography(id);
  const isProfile = model !== id;
  const family = families.find(({ ids, profiles }) => ids.test(model) && !(isProfile && profiles === false));
  if (family?.refused !== undefined) return { problem: family.refused };
  if (isProfile && rule.endpoint === 'mantle')
    return { problem: `Mantle has no inference profiles: write ${model}, or leave endpoint out` };
  const { ways = [] } = family ?? {};
  if (rule.api === undefined && rule.endpoint === undefined) return { ways };
  const api = rule.api && apis[rule.api];
  const namedWays = ways.filter(
    (way) =>
      (api === undefined || way.api === api) &&
      (rule.endpoint === undefined || way.endpoint === rule.endpoint),
  );
  if (namedWays.length > 0) return { ways: namedWays };
  // A rule that says the endpoint alone means the same API there.
  const ruleWithApi = { ...rule, api: rule.api ?? ruleApis.find((name) => apis[name] === ways[0]?.api) };
  const way = unlisted(
    ruleWithApi.api === 'converse' && rule.api === undefined
      ? { ...ruleWithApi, api: 'openai' }
      : ruleWithApi,
  );
  return way
    ? { ways: [way] }
    : { problem: 'Mantle has no Converse: write "api": "openai" or "anthropic", or leave endpoint out' };
};

/** The hosts of the endpoints in a region. */
export const bedrockOrigin = (endpoint: BedrockEndpoint, region: string): string =>
  endpoint === 'mantle'
    ? `https://bedrock-mantle.${region}.api.aws`
    : `https://bedrock-runtime.${region}.amazonaws.com`;

/** What signatures call the endpoints. */
export const bedrockServices: Readonly<Record<BedrockEndpoint, string>> = {
  runtime: 'bedrock',
  mantle: 'bedrock-mantle',
};
