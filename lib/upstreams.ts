import { z } from 'zod';

const matching = (pattern: RegExp, error: string) => z.string({ error }).regex(pattern, { error });

const region = matching(/^[a-z]{2}(-[a-z]+)+-\d$/, 'write the name of a region, e.g. us-east-1');

const hasStar = (text: string): boolean => text.includes('*');

/** A model's name, in which one `*` stands for any characters. */
const pattern = matching(
  /^(?=.{1,256}$)[\x21-\x29\x2b-\x7e]*\*?[\x21-\x29\x2b-\x7e]*$/,
  "write a model's name: 1 to 256 characters without spaces, among them at most one *",
);

const renaming = z
  .strictObject({ match: pattern, send: pattern })
  .refine(({ match, send }) => hasStar(match) || !hasStar(send), {
    error: 'write a * into match too: its text replaces the * in send',
  });

type Rule = string | z.output<typeof renaming>;

const rule = z.union([pattern, renaming], {
  error: 'write a model\'s name, in which one * may stand for any characters, or {"match": …, "send": …}',
});

const sentBy = (given: Rule): string => (typeof given === 'string' ? given : given.send);

const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && /^(127\.0\.0\.1|localhost|\[::1\])$/.test(hostname);

const isBaseUrl = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const plain = !url.username && !url.password && !/[?#]/.test(text);
  return plain && (url.protocol === 'https:' || isLoopback(url));
};

const baseUrlRule = 'write a URL like https://api.openai.com/v1: https, without user, query or fragment';
const baseUrl = z.string({ error: baseUrlRule }).refine(isBaseUrl, { error: baseUrlRule });

const keySecret = matching(
  /^(?:arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:)?[A-Za-z0-9/_+=.@-]{1,519}$/,
  'write the name or the ARN of a secret in Secrets Manager',
);

const named = {
  name: matching(/^[a-z0-9-]{1,32}$/, 'write 1 to 32 lower-case letters, digits or hyphens'),
  models: z.array(rule, { error: 'write a list of models' }).min(1, { error: 'write at least one model' }),
};

/** An upstream with a key of its own, or none. */
const keyed = z.strictObject({ ...named, baseUrl, keySecret: keySecret.optional() });

/** Amazon Bedrock. The function's role may invoke the models that are named, and no other. */
const bedrock = z.strictObject({
  ...named,
  models: named.models
    .refine((rules) => !rules.map(sentBy).some(hasStar), {
      error:
        'write ids of models without *: the function may invoke these alone. A match may have a * if it has a send',
    })
    .refine((rules) => rules.map(sentBy).every((id) => /^[a-z0-9*][a-z0-9.:_*-]*$/i.test(id)), {
      error: "write Bedrock's ids of models or inference profiles, not ARNs",
    }),
  bedrock: z.union([z.literal(true), z.strictObject({ region: region.optional() })], {
    error: 'write true, or {"region": "<region>"}',
  }),
});

/** Lambda allows 4 KB for a function's whole environment. Names of tables and others take some. */
const maxBytes = 3000;

const fromJson = (value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
};

const hasBedrock = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'bedrock' in value;

/** One upstream. Its fields depend on whether it is Bedrock. */
const upstream = z.unknown().transform((value, context): Upstream => {
  const result = (hasBedrock(value) ? bedrock : keyed).safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) context.issues.push({ ...issue, input: value } as never);
  return z.NEVER;
});

/** An upstream as the setting describes it. */
export type Upstream = z.output<typeof keyed> | z.output<typeof bedrock>;

/** The setting `inferenceUpstreams`: a list, or its JSON. docs/inference.md explains the fields. */
export const upstreamsSetting = z.preprocess(
  fromJson,
  z
    .array(upstream, { error: 'write a list of upstreams' })
    .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, {
      error: 'give each upstream a name of its own',
    })
    .refine((list) => JSON.stringify(list).length <= maxBytes, {
      error: `write less: the function's environment has room for ${maxBytes} bytes of JSON`,
    }),
);

/**
 * The models and inference profiles that Bedrock is asked for, each with its region.
 *
 * @returns ids and regions; a region is undefined if it is the stack's own
 */
export const bedrockModels = (
  upstreams: readonly Upstream[],
): readonly { readonly id: string; readonly region: string | undefined }[] =>
  upstreams.flatMap((given) => {
    if (!('bedrock' in given)) return [];
    const own = given.bedrock === true ? undefined : given.bedrock.region;
    return given.models.map((model) => ({ id: sentBy(model), region: own }));
  });

/** The names and ARNs of the secrets that hold upstreams' keys, each once. */
export const keySecrets = (upstreams: readonly Upstream[]): readonly string[] => [
  ...new Set(
    upstreams.flatMap((given) =>
      'keySecret' in given && given.keySecret !== undefined ? [given.keySecret] : [],
    ),
  ),
];
