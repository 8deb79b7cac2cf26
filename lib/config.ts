import { RE2JS } from 're2js';
import { z } from 'zod';
import { isKeyed, longAnswer, passThrough } from '../api/endpoint.ts';
import { allRoutes } from '../api/routes.ts';
import { sources } from '../api/shared/header-fields.ts';
import {
  type BedrockWay,
  bedrockEndpoints,
  bedrockSource,
  bedrockWays,
  ruleApis,
} from '../core/doors/inference/bedrock.ts';
import { parseScope } from '../foundations/auth/grants.ts';
import { isIssuerUrl } from '../foundations/auth/issuer.ts';
import { memberRule, parseMember } from '../foundations/auth/members.ts';
import { actions, builtins, isOfFields, pathProblem } from '../foundations/redaction/index.ts';
import type { PennytraceProps } from './props.ts';

/** A construct id: `CallsStreamQuery` for `calls/stream_query` and for `CALLS_STREAM_QUERY`. */
export const constructId = (name: string): string =>
  name
    .split(/[^a-zA-Z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
    .join('');

/** Every setting, read and checked. {@link PennytraceProps} says what each is for. */
export type Config = z.output<typeof settings>;

/** Reads a context value, which is JSON in cdk.json and text on the command line (`-c name=value`). */
const fromText = (value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
};

const whole = (least: number, most: number) => {
  const error = `write a whole number from ${least} to ${most}`;
  return z.preprocess(fromText, z.int({ error }).min(least, { error }).max(most, { error }));
};

const flag = () => z.preprocess(fromText, z.boolean({ error: 'write true or false' }));

const text = (pattern: RegExp, error: string) => z.string({ error }).regex(pattern, { error });

/** The numbers of days for which CloudWatch Logs can keep lines. */
const logRetentions = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
] as const;

const isShardCount = (count: number): boolean =>
  count >= 1 && count <= 256 && Number.isInteger(Math.log2(count));

const shardHistory = z
  .union([z.number(), z.string(), z.array(z.number())])
  .transform((value) => String(value).split(',').map(Number))
  .refine((history) => history.every(isShardCount) && new Set(history).size === history.length, {
    error: 'write a power of two from 1 to 256, or all counts so far with the present one last: 4 or 4,16',
  });

const paths: readonly string[] = [...new Set(allRoutes.filter(isKeyed).map(({ path }) => path))];

const routeMetrics = z
  .preprocess(
    (value) => (typeof value === 'string' ? value.split(',') : value),
    z.array(z.string(), { error: 'write all, or paths of routes: /call/upsert_batch,/calls/stream_query' }),
  )
  .transform((given) => (given.join() === 'all' ? paths : given))
  .refine((given) => given.every((path) => paths.includes(path)), {
    error: `write all, or some of ${paths.join(', ')}`,
  });

const fromJson = (value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
};

/** A setting that is switched on with true, or with fields of its own; undefined for false. */
const switched = <Shape extends z.ZodRawShape>(shape: Shape, error: string) =>
  z.preprocess((value) => {
    const given = fromJson(value);
    return given === true ? {} : given === false ? undefined : given;
  }, z.strictObject(shape, { error }).optional());

const billingError =
  'write onDemand, provisioned, or {"minUnits": 5, "maxUnits": 4000, "targetPercent": 70}, all fields optional';

/** The setting `billing`: how the capacity of calls is paid for; undefined if it is paid per request. */
const billing = z.preprocess(
  (value) => {
    const given = fromJson(value);
    return given === 'provisioned' ? {} : given === 'onDemand' ? undefined : given;
  },
  z
    .strictObject(
      {
        minUnits: whole(1, 40_000).default(5),
        maxUnits: whole(1, 40_000).default(4000),
        targetPercent: whole(20, 90).default(70),
      },
      { error: billingError },
    )
    .refine(({ minUnits, maxUnits }) => minUnits <= maxUnits, {
      path: ['maxUnits'],
      error: 'write at least as many units as minUnits',
    })
    .optional(),
);

const region = text(/^[a-z]{2}(-[a-z]+)+-\d$/, 'write the name of a region, e.g. us-east-1');

const hasStar = (text: string): boolean => text.includes('*');

/** A model's name, in which one `*` stands for any characters. */
const pattern = text(
  /^(?=.{1,256}$)[\x21-\x29\x2b-\x7e]*\*?[\x21-\x29\x2b-\x7e]*$/,
  "write a model's name: 1 to 256 characters without spaces, among them at most one *",
);

const starsMeet = ({ match, send }: { readonly match: string; readonly send?: string | undefined }) =>
  send === undefined || hasStar(match) || !hasStar(send);

const starsError = { error: 'write a * into match too: its text replaces the * in send' };

const renaming = z.strictObject({ match: pattern, send: pattern }).refine(starsMeet, starsError);

const rule = z.union([pattern, renaming], {
  error: 'write a model\'s name, in which one * may stand for any characters, or {"match": …, "send": …}',
});

/** A model of Bedrock, whose rule may say the way to it. */
const bedrockRenaming = z
  .strictObject({
    match: pattern,
    send: pattern.optional(),
    api: z.enum(ruleApis, { error: `write one of ${ruleApis.join(', ')}` }).optional(),
    endpoint: z.enum(bedrockEndpoints, { error: `write one of ${bedrockEndpoints.join(', ')}` }).optional(),
  })
  .refine(starsMeet, starsError);

type BedrockRule = string | z.output<typeof bedrockRenaming>;

/** The name of a model that its upstream gets. */
export const sentBy = (given: string | { readonly match: string; readonly send?: string | undefined }) =>
  typeof given === 'string' ? given : (given.send ?? given.match);

/** The ways to a model of Bedrock, or why there is none. */
const findWays = (given: BedrockRule) => bedrockWays(sentBy(given), typeof given === 'string' ? {} : given);

/** The ways to a model of Bedrock. It has at least one: the setting was checked. */
export const waysToModel = (given: BedrockRule): readonly BedrockWay[] => findWays(given).ways ?? [];

const bedrockModel = z
  .union([pattern, bedrockRenaming], {
    error: `write the id of a model, or {"match": …, "send": …} with "api" ${ruleApis.join(', ')} or "endpoint" ${bedrockEndpoints.join(', ')}`,
  })
  .refine((given) => !hasStar(sentBy(given)), {
    error:
      'write ids of models without *: the function may only invoke these. A match can have a * if it has a send',
    abort: true,
  })
  .refine((given) => /^[a-z0-9][a-z0-9.:_-]*$/i.test(sentBy(given)), {
    error: "write Bedrock's ids of models or inference profiles, not ARNs",
    abort: true,
  })
  .check(({ value, issues }) => {
    const { problem } = findWays(value);
    if (problem === undefined) return;
    const message = `${sentBy(value)} cannot be asked: ${problem} (as AWS's tables of ${bedrockSource.readAt} have it)`;
    issues.push({ code: 'custom', message, input: value });
  });

const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && /^(127\.0\.0\.1|localhost|\[::1\])$/.test(hostname);

const isBaseUrl = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const plain = !url.username && !url.password && !/[?#]/.test(text);
  return plain && (url.protocol === 'https:' || isLoopback(url));
};

/** Whether a text is an origin as browsers send it. */
const isOrigin = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return (
    url.origin === text &&
    /^[a-z0-9.:[\]-]+$/.test(url.host) &&
    (url.protocol === 'https:' || isLoopback(url))
  );
};

const originError =
  'write an origin as browsers send it: https://app.example.com, in lower case, with a port only if it is not 443, without a path and without *; http only for loopback';

/** The setting `corsOrigins`: a list of origins, its JSON, or a text with commas between them. */
const origins = z
  .preprocess(
    (value) => (typeof value === 'string' && !value.startsWith('[') ? value.split(',') : fromJson(value)),
    z
      .array(z.string({ error: originError }).refine(isOrigin, { error: originError }), {
        error: 'write a list of origins: ["https://app.example.com"]',
      })
      .max(20, { error: 'write at most 20 origins' }),
  )
  .transform((given) => (given.length > 0 ? [...new Set(given)] : undefined));

const baseUrlLike = (example: string) => {
  const error = `write a URL like ${example}: https, without user, query or fragment`;
  return z.string({ error }).refine(isBaseUrl, { error });
};

const baseUrl = baseUrlLike('https://api.openai.com/v1');

const keySecret = text(
  /^(?:arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:)?[A-Za-z0-9/_+=.@-]{1,519}$/,
  'write the name or the ARN of a secret in Secrets Manager',
);

const nonEmptyList = <Item extends z.ZodType>(item: Item) =>
  z.array(item, { error: 'write a list of models' }).min(1, { error: 'write at least one model' });

const secondsError = 'write a number of seconds above 0, at most 900';

const named = {
  name: text(/^[a-z0-9-]{1,32}$/, 'write 1 to 32 lower-case letters, digits or hyphens'),
  firstByteSeconds: z
    .number({ error: secondsError })
    .positive({ error: secondsError })
    .max(900, { error: secondsError })
    .optional(),
};

/** An upstream with a key of its own, or none. */
const keyed = z.strictObject({
  ...named,
  models: nonEmptyList(rule),
  api: z
    .enum(['openai', 'anthropic'], {
      error: 'write openai or anthropic: the API that the upstream speaks',
    })
    .optional(),
  baseUrl,
  keySecret: keySecret.optional(),
});

/** Amazon Bedrock. The function's role may invoke the models that are named, and no other. */
const bedrock = z.strictObject({
  ...named,
  models: nonEmptyList(bedrockModel),
  bedrock: z.union([z.literal(true), z.strictObject({ region: region.optional() })], {
    error: 'write true, or {"region": "<region>"}',
  }),
});

/** Lambda allows 4 KB for a function's whole environment. Names of tables and others take some. */
const maxBytes = 3000;

const hasField = (value: unknown, field: string): boolean =>
  typeof value === 'object' && value !== null && field in value;

/** One of two schemas. Which one depends on whether a value has a field. */
const eitherBy =
  (field: string) =>
  <With extends z.ZodType, Without extends z.ZodType>(having: With, lacking: Without) =>
    z.unknown().transform((value, context): z.output<With> | z.output<Without> => {
      const result = (hasField(value, field) ? having : lacking).safeParse(value);
      if (result.success) return result.data as z.output<With> | z.output<Without>;
      for (const issue of result.error.issues) context.issues.push({ ...issue, input: value } as never);
      return z.NEVER;
    });

/** One upstream. Its fields depend on whether it is Bedrock. */
const either = eitherBy('bedrock');

/** An upstream as the setting describes it. */
export type Upstream = z.output<typeof keyed> | z.output<typeof bedrock>;

const upstreamList = <Item extends z.ZodType<{ readonly name: string }>>(item: Item) =>
  z
    .array(item, { error: 'write a list of upstreams' })
    .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, {
      error: 'give each upstream a name of its own',
    });

const key = text(/^[\x21-\x7e]+$/, 'write a key without spaces');

/**
 * The setting `inferenceUpstreams` as the local service takes it: upstreams have their keys in it, and
 * another host may play Bedrock.
 */
export const localUpstreams = z.preprocess(
  fromJson,
  upstreamList(
    either(
      bedrock.extend({ baseUrl: baseUrl.optional() }),
      keyed.omit({ keySecret: true }).extend({ key: key.optional() }),
    ),
  ).refine((list) => list.length > 0, { error: 'write at least one upstream' }),
);

/** The setting `inferenceUpstreams`: a list, or its JSON. docs/inference.md explains the fields. */
const upstreams = z.preprocess(
  fromJson,
  upstreamList(either(bedrock, keyed)).refine((list) => JSON.stringify(list).length <= maxBytes, {
    error: `write less: the function's environment has room for ${maxBytes} bytes of JSON`,
  }),
);

const admins = z
  .array(
    z.string().refine((text) => parseMember(text) !== undefined, { error: memberRule }),
    {
      error: 'write a list of e-mail addresses and groups: ["ada@example.com", "group:platform"]',
    },
  )
  .min(1, { error: 'write at least one, who can then give rights to others' })
  .max(20, { error: 'write at most 20: a group has room for more' });

const scope = text(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/, 'write a scope without spaces: openid');

const clientOf = (issuer: z.ZodType<string>) =>
  z.strictObject(
    {
      issuer,
      clientId: text(/^[\x21-\x7e]{1,256}$/, 'write the id of the client at the issuer'),
      token: z.enum(['access', 'id'], { error: 'write access or id' }).default('access'),
      scopes: z
        .array(scope, { error: 'write a list of scopes: ["openid", "email", "profile"]' })
        .max(20, { error: 'write at most 20 scopes' })
        .refine((scopes) => scopes.includes('openid'), { error: 'write openid among them' })
        .default(['openid', 'email', 'profile']),
      groupsClaim: text(/^[\x21-\x7e]{1,200}$/, 'write the name of a claim: groups').optional(),
      loopbackRedirectUri: text(
        /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?\/[\w./-]{0,200}$/,
        'write what is registered at the issuer for commands, an http URL on loopback: http://localhost:8789/',
      )
        .refine(URL.canParse, { error: 'write a port up to 65535: http://localhost:8789/' })
        .optional(),
      admins,
    },
    {
      error:
        'write {"issuer": "https://login.example.com/realms/main", "clientId": "pennytrace", "admins": ["ada@example.com"]}, or {"cognito": {"domainPrefix": "acme-traces"}, "admins": […]}',
    },
  );

const issuerUrl = (loopback: boolean) =>
  z
    .string({ error: 'write the URL of the issuer' })
    .max(500, { error: 'write at most 500 characters' })
    .refine((text) => isIssuerUrl(text, { loopback }) && !text.includes('?'), {
      error: `write the URL of the issuer as its discovery document has it: https${loopback ? ', or http on loopback' : ''}, without user, query or fragment`,
    });

const cognito = z.strictObject({
  cognito: z.strictObject(
    {
      domainPrefix: text(
        /^(?!.*(?:aws|amazon|cognito))[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
        'write 1 to 63 lower-case letters, digits or hyphens, without aws, amazon or cognito: acme-traces',
      ),
      providers: z
        .array(text(/^[^\p{C}\p{Z}_]{1,32}$/u, 'write the name of an identity provider of the user pool'), {
          error: 'write a list of names of identity providers',
        })
        .max(20, { error: 'write at most 20 identity providers' })
        .default([]),
    },
    { error: 'write {"domainPrefix": "acme-traces"}' },
  ),
  admins,
});

/** The setting `signIn`, or its JSON: an issuer's client, or a user pool. docs/people.md explains the fields. */
const signIn = z.preprocess(fromJson, eitherBy('cognito')(cognito, clientOf(issuerUrl(false))));

/** The setting `signIn` as the local service takes it: the issuer may be on this machine. */
export const localSignIn = z.preprocess(fromJson, clientOf(issuerUrl(true)));

/** The setting `environmentSources`: sources of calls by scope and environment, or its JSON. */
const environmentSources = z
  .preprocess(
    fromJson,
    z
      .record(
        z.string(),
        z.record(
          z.string().min(1).max(128),
          z.enum(sources, { error: `write one of ${sources.join(', ')}` }),
          { error: 'write sources by environment: {"ci": "test"}' },
        ),
        { error: 'write sources by project and environment: {"*": {"ci": "test"}}' },
      )
      .refine((scopes) => Object.keys(scopes).every((scope) => parseScope(scope) !== undefined), {
        error: 'write projects, "<entity>/*" or "*" as keys: {"*": {"ci": "test"}}',
      }),
  )
  .transform((scopes) => (Object.keys(scopes).length > 0 ? scopes : undefined));

/** What is wrong with a pattern; undefined if nothing is. */
const patternProblem = (text: string): string | undefined => {
  try {
    return RE2JS.compile(text).matcher('').find()
      ? 'write a pattern that does not match the empty text'
      : undefined;
  } catch (error) {
    return `write a regular expression in RE2's syntax: ${error instanceof Error ? error.message : error}`;
  }
};

/** A text that a function finds nothing wrong with. */
const checked = (problem: (text: string) => string | undefined, error: string) =>
  z
    .string({ error })
    .max(1000, { error: 'write at most 1000 characters' })
    .check(({ value, issues }) => {
      const message = problem(value);
      if (message !== undefined) issues.push({ code: 'custom', message, input: value });
    });

const redactionRule = z
  .strictObject(
    {
      name: text(/^[a-z0-9_-]{1,32}$/, 'write 1 to 32 lower-case letters, digits, hyphens or underscores'),
      builtin: z.enum(builtins, { error: `write one of ${builtins.join(', ')}` }).optional(),
      pattern: checked(patternProblem, 'write a regular expression').optional(),
      paths: z
        .array(checked(pathProblem, 'write a path: inputs.customer.email'), {
          error: 'write a list of paths',
        })
        .min(1, { error: 'write at least one path, or leave paths out' })
        .max(100, { error: 'write at most 100 paths' })
        .optional(),
      action: z.enum(actions, { error: `write one of ${actions.join(', ')}` }),
    },
    { error: 'write a rule: {"name": "email", "builtin": "email", "action": "label"}' },
  )
  .refine(({ builtin, pattern }) => builtin === undefined || pattern === undefined, {
    error: 'write builtin or pattern, not both',
  })
  .refine((rule) => !isOfFields(rule) || rule.paths !== undefined, {
    error: 'write what to look for (builtin or pattern), or the paths of whole fields',
  });

/** Whether no rule would hide another: of one built-in form at most one is for all places. */
const isUnambiguous = (rules: readonly z.output<typeof redactionRule>[]): boolean => {
  const everywhere = rules.flatMap(({ builtin, paths }) => (builtin && !paths ? [builtin] : []));
  return new Set(everywhere).size === everywhere.length;
};

/** The setting `redact`: a list of rules, or its JSON. docs/redaction.md explains the fields. */
const redactionRules = z
  .preprocess(
    fromJson,
    z
      .array(redactionRule, {
        error: 'write a list of rules: [{"name": "email", "builtin": "email", "action": "label"}]',
      })
      .max(100, { error: 'write at most 100 rules' })
      .refine((rules) => new Set(rules.map(({ name }) => name)).size === rules.length, {
        error: 'give each rule a name of its own',
      })
      .refine(isUnambiguous, { error: 'write one rule without paths for each built-in form' }),
  )
  .transform((rules) => (rules.length > 0 ? rules : undefined));

const tagsAdvice =
  'write keys and values: {"team": "tracing"}; a key has 1 to 128 letters, digits, spaces or _ . : / = + - @ and does not begin with aws:';

/** The setting `tags`, or its JSON. AWS allows 50 tags, of which the app and CloudFormation have some. */
const tags = z
  .preprocess(
    fromJson,
    z.record(
      text(/^(?!aws:)[\p{L}\p{Z}\p{N}_.:/=+\-@]{1,128}$/iu, tagsAdvice),
      text(
        /^[\p{L}\p{Z}\p{N}_.:/=+\-@]{0,256}$/u,
        'write at most 256 letters, digits, spaces or _ . : / = + - @',
      ),
      { error: tagsAdvice },
    ),
  )
  .refine((given) => Object.keys(given).length <= 40, { error: 'write at most 40 tags' })
  // IAM ignores the case of a key, and would refuse the second at deployment.
  .refine(
    (given) => new Set(Object.keys(given).map((key) => key.toLowerCase())).size === Object.keys(given).length,
    {
      error: 'write each key once: roles cannot have two that differ in case alone',
    },
  );

/** The schema of the settings; the keys are the names of the context values. */
export const settings = z
  .strictObject({
    stackName: text(
      /^[A-Za-z][A-Za-z0-9-]{0,127}$/,
      'write a letter, then at most 127 letters, digits or hyphens',
    ).default('Pennytrace'),
    shards: shardHistory.default([4]),
    retentionDays: whole(1, 36_500).optional(),
    keepData: flag().default(true),
    pointInTimeRecovery: flag().optional(),
    domain: z
      .preprocess(
        fromJson,
        z.strictObject(
          {
            name: text(
              /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/,
              'write a domain name in lower case: tracing.example.com',
            ),
            certificate: text(
              /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
              'write the ARN of a certificate in ACM, in the region of the stack',
            ),
            zone: text(
              /^Z[A-Z0-9]{1,31}$/,
              'write the id of a hosted zone of Route 53: Z0123456789',
            ).optional(),
          },
          {
            error:
              'write {"name": "tracing.example.com", "certificate": "arn:aws:acm:…", "zone": "Z0123456789"}, of which zone may be left out',
          },
        ),
      )
      .optional(),
    private: z
      .preprocess(
        fromJson,
        z.strictObject(
          {
            vpcEndpointIds: z
              .array(
                text(/^vpce-[0-9a-f]{8,17}$/, 'write the id of a VPC endpoint: vpce-0123456789abcdef0'),
                {
                  error: 'write a list of ids of VPC endpoints',
                },
              )
              .transform((ids) => [...new Set(ids)])
              .refine((ids) => ids.length > 0 && ids.length <= 20, {
                error: 'write at least one id of a VPC endpoint, and at most 20',
              }),
          },
          { error: 'write {"vpcEndpointIds": ["vpce-0123456789abcdef0"]}' },
        ),
      )
      .optional(),
    tags: tags.optional(),
    billing: billing.optional(),
    keepFeedback: flag().default(false),
    auditDays: whole(1, 36_500).default(365),
    iam: flag().default(false),
    signIn: signIn.optional(),
    xray: flag().default(false),
    authorizerCacheSeconds: whole(0, 3600).default(60),
    throttleRate: whole(1, 10_000).default(1000),
    throttleBurst: whole(1, 5000).default(2000),
    openThrottleRate: whole(1, 10_000).default(50),
    openThrottleBurst: whole(1, 5000).default(200),
    firewallRatePerAddress: whole(10, 1_000_000).optional(),
    queryTimeoutSeconds: whole(30, 900).default(longAnswer.timeoutSeconds),
    logRetentionDays: z
      .preprocess(fromText, z.literal(logRetentions, { error: `write one of ${logRetentions.join(', ')}` }))
      .default(30),
    alarmEmail: z.email({ error: 'write an e-mail address' }).optional(),
    runbookUrl: text(
      /^[^\s#]{1,300}$/,
      'write the path or the URL of the operations page, without a #: https://github.com/<you>/<fork>/blob/main/docs/operations.md',
    ).default('docs/operations.md'),
    routeMetrics: routeMetrics.optional(),
    monthlyBudget: whole(1, 1_000_000).optional(),
    accountLogRole: flag().default(true),
    corsOrigins: origins.optional(),
    environmentSources: environmentSources.optional(),
    inferenceUpstreams: upstreams.optional(),
    inferenceTimeoutSeconds: whole(30, 900).default(passThrough.timeoutSeconds),
    inferenceConcurrency: whole(1, 10_000).optional(),
    inferenceRatePerMinute: whole(1, 1_000_000).optional(),
    events: switched(
      {
        bus: text(/^[\w./-]{1,256}$/, 'write the name of an event bus of this account and region').default(
          'default',
        ),
        payloads: flag().default(false),
      },
      'write true, or {"bus": "<name>", "payloads": true}, both fields optional',
    ).optional(),
    analytics: switched(
      {
        scanLimitGb: whole(1, 10_000).default(10),
        keepDays: whole(1, 36_500).optional(),
        bucket: text(
          /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
          'write the name of the bucket that analytics had before they were switched off',
        ).optional(),
      },
      'write true, or {"scanLimitGb": 10, "keepDays": 365, "bucket": "<name>"}, all fields optional',
    ).optional(),
    readStreams: flag().default(true),
    redact: redactionRules.optional(),
    evaluators: switched(
      { concurrency: whole(2, 1000).default(10) },
      'write true, or {"concurrency": 10}',
    ).optional(),
    limits: switched(
      {
        unpriced: z.enum(['refuse', 'dearest'], { error: 'write refuse or dearest' }).default('refuse'),
      },
      'write true, or {"unpriced": "dearest"}',
    ).optional(),
    alerts: switched(
      { url: baseUrlLike('https://tracing.example.com').optional() },
      'write true, or {"url": "https://tracing.example.com"} for links of messages',
    ).optional(),
  } satisfies Record<keyof PennytraceProps | 'stackName', z.ZodType>)
  .refine(({ domain, private: isPrivate }) => domain === undefined || isPrivate === undefined, {
    path: ['domain'],
    error: 'leave it out with private: a private API has the names of its VPC endpoints',
  })
  .refine(({ monthlyBudget, alarmEmail }) => monthlyBudget === undefined || alarmEmail !== undefined, {
    path: ['monthlyBudget'],
    error: 'write an alarmEmail too: the budget has to tell somebody',
  })
  .refine(({ analytics }) => analytics?.bucket === undefined || analytics.keepDays === undefined, {
    path: ['analytics'],
    error:
      'leave keepDays out beside bucket, which keeps the rules that it has: aws s3api put-bucket-lifecycle-configuration',
  })
  .refine(
    ({ corsOrigins = [], inferenceUpstreams = [], environmentSources = {} }) =>
      corsOrigins.join().length +
        JSON.stringify(inferenceUpstreams).length +
        Buffer.byteLength(JSON.stringify(environmentSources)) <=
      maxBytes,
    {
      path: ['corsOrigins'],
      error: `write less: a function's environment has room for ${maxBytes} bytes of inferenceUpstreams, corsOrigins and environmentSources together`,
    },
  );

/** The settings have problems. The message has a line for each. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/**
 * Whether a context value is a setting. The names of CDK's own (feature flags, cached look-ups) have
 * a colon or a slash.
 */
const isSetting = ([name, value]: [string, unknown]): boolean =>
  !/[:/]|^cli-telemetry$/.test(name) && value !== undefined && value !== null;

/**
 * The value at a path below the settings. It is undefined inside a setting that was given as JSON
 * text.
 */
const valueAt = (context: Record<string, unknown>, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    context,
  );

const problem = (
  issue: z.core.$ZodIssue,
  context: Record<string, unknown>,
  describeSetting: (name: string) => string,
): string => {
  const [name, ...below] = issue.path;
  const place = [describeSetting(String(name)), ...below.map((key) => `[${JSON.stringify(key)}]`)].join('');
  if (issue.code === 'unrecognized_keys') {
    if (name !== undefined) return `${place} has ${issue.keys.join(', ')}: there is no such field`;
    if (issue.keys.includes('dialect'))
      return 'setting dialect is gone, take it out: Weave’s SDKs are served below /weave of every service (docs/weave.md)';
    const known = Object.keys(settings.shape).join(', ');
    return `unknown setting ${issue.keys.join(', ')}: write one of ${known}`;
  }
  const value = valueAt(context, issue.path);
  return value === undefined
    ? `${place}: ${issue.message}`
    : `${place} is ${JSON.stringify(value)}: ${issue.message}`;
};

/**
 * Reads the settings from the CDK context. Passes over names with a colon or a slash, which are
 * CDK's own. Takes null as absent.
 *
 * @param describeSetting what messages call a setting, by its name
 * @throws SettingsError which names each unknown or bad setting and says what to write
 */
export const readConfig = (
  context: Record<string, unknown>,
  describeSetting = (name: string) => `setting ${name}`,
): Config => {
  const settingValues = Object.fromEntries(Object.entries(context).filter(isSetting));
  const result = settings.safeParse(settingValues);
  if (result.success) return result.data;
  throw new SettingsError(
    result.error.issues.map((issue) => problem(issue, settingValues, describeSetting)).join('\n'),
  );
};
