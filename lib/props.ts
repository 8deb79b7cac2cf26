/** One rule for models: a name, in which one `*` may stand for any characters, or a renaming. */
export type InferenceModel =
  | string
  | {
      /** The name that requests have, with at most one `*`. */
      readonly match: string;
      /** The name that the upstream gets; a `*` takes the text that `match` found. */
      readonly send: string;
    };

/** One rule for models of Amazon Bedrock: the id of a model or an inference profile, or more about it. */
export type BedrockModel =
  | string
  | {
      /** The name that requests have, with at most one `*`. */
      readonly match: string;
      /**
       * The id that Bedrock gets.
       *
       * @default - the same as `match`
       */
      readonly send?: string | undefined;
      /**
       * The API by which Bedrock is asked for it.
       *
       * @default - as AWS's tables have it
       */
      readonly api?: 'openai' | 'anthropic' | 'converse' | undefined;
      /**
       * The endpoint: `bedrock-runtime` or `bedrock-mantle`.
       *
       * @default - as AWS's tables have it
       */
      readonly endpoint?: 'runtime' | 'mantle' | undefined;
    };

/** A service that model requests are passed on to, or Amazon Bedrock. */
export type InferenceUpstream = {
  /** 1 to 32 lower-case letters, digits or hyphens. */
  readonly name: string;
  /**
   * After how many seconds without a first byte the next upstream with a rule for the model is asked.
   *
   * @default - none: an answer may begin as late as it likes
   */
  readonly firstByteSeconds?: number | undefined;
} & (
  | {
      /** The models that go there. */
      readonly models: readonly InferenceModel[];
      /**
       * The API that it speaks: OpenAI's, or Anthropic's Messages.
       *
       * @default 'openai'
       */
      readonly api?: 'openai' | 'anthropic' | undefined;
      /** Its base URL: `https://api.openai.com/v1`. */
      readonly baseUrl: string;
      /**
       * The name or the ARN of the secret with its key.
       *
       * @default - requests carry no key
       */
      readonly keySecret?: string | undefined;
    }
  | {
      /** The models that are asked there. */
      readonly models: readonly BedrockModel[];
      /** Amazon Bedrock, in the stack's region or another one. */
      readonly bedrock: true | { readonly region?: string | undefined };
    }
);

/** Who made a call: docs/api.md#sources. */
export type CallSource = 'production' | 'evaluation' | 'judge' | 'trial' | 'playground' | 'test';

/** A rule of redaction: docs/redaction.md says more. */
export interface RedactionRule {
  /** What stands in the place of what it finds: 1 to 32 lower-case letters, digits, `-` and `_`. */
  readonly name: string;
  /** A form that it looks for. Neither this nor `pattern`: whatever is at its paths. */
  readonly builtin?:
    | 'email'
    | 'phone'
    | 'card'
    | 'iban'
    | 'ipv4'
    | 'ipv6'
    | 'aws_key'
    | 'private_key'
    | 'bearer_token'
    | 'api_key'
    | undefined;
  /** A regular expression that it looks for, in RE2's syntax. */
  readonly pattern?: string | undefined;
  /**
   * Where it looks: `inputs.customer.email`, `attributes.*.token`.
   *
   * @default - everywhere
   */
  readonly paths?: readonly string[] | undefined;
  /** Whether a label, a hash or nothing stays. */
  readonly action: 'label' | 'hash' | 'drop';
}

/** Bounds of analytics. */
export interface AnalyticsOptions {
  /**
   * The most that one query may read, in GB, 1 to 10000. Athena takes $5 for a thousand.
   *
   * @default 10
   */
  readonly scanLimitGb?: number | undefined;
  /**
   * After how many days files are deleted: 1 to 36500.
   *
   * @default - three days after `retentionDays`; without that, files are kept
   */
  readonly keepDays?: number | undefined;
  /**
   * The name of the bucket that analytics had before they were switched off. It stays outside the stack, with
   * the rules by which it deletes files.
   *
   * @default - a new bucket
   */
  readonly bucket?: string | undefined;
}

/** Where events go, and what they say. */
export interface EventsOptions {
  /**
   * The name of the event bus.
   *
   * @default 'default'
   */
  readonly bus?: string | undefined;
  /**
   * Whether events have what calls got and gave, too.
   *
   * @default false
   */
  readonly payloads?: boolean | undefined;
}

/** Bounds of evaluators. */
export interface EvaluatorsOptions {
  /**
   * How many messages are worked on at once, with up to ten calls of one project each: 2 to 1000.
   *
   * @default 10
   */
  readonly concurrency?: number | undefined;
}

/** What spending limits mean for models without a price. */
export interface LimitsOptions {
  /**
   * Whether requests to them are refused, or count as those to the dearest model of the default
   * prices.
   *
   * @default 'refuse'
   */
  readonly unpriced?: 'refuse' | 'dearest' | undefined;
}

/** Capacity that is paid for by the hour. The table of calls and each of its indexes have their own. */
export interface BillingOptions {
  /**
   * The least read and the least write units a second, which they also begin with: 1 to 40000.
   *
   * @default 5
   */
  readonly minUnits?: number | undefined;
  /**
   * The most of each: 1 to 40000. It limits what can be stored, and the bill.
   *
   * @default 4000
   */
  readonly maxUnits?: number | undefined;
  /**
   * The share of the capacity that auto scaling aims to have used, in percent: 20 to 90.
   *
   * @default 70
   */
  readonly targetPercent?: number | undefined;
}

/** How alerts tell of themselves. */
export interface AlertsOptions {
  /**
   * The URL of the service for links in messages, such as that of a custom domain: without `/ui`.
   *
   * @default - the API's own
   */
  readonly url?: string | undefined;
}

/** Where people sign in, and who of them may do everything. */
export type SignInOptions = {
  /** E-mail addresses that the issuer has verified, and groups as `group:<name>`: 1 to 20. */
  readonly admins: readonly string[];
} & (
  | {
      /** The issuer, as its discovery document has it: `https://login.example.com/realms/main`. */
      readonly issuer: string;
      /** The id of a public client there, with PKCE. */
      readonly clientId: string;
      /**
       * Which token is sent to the service. `id` is for issuers whose access tokens say nothing to it.
       *
       * @default 'access'
       */
      readonly token?: 'access' | 'id' | undefined;
      /**
       * What clients ask the issuer for.
       *
       * @default ['openid', 'email', 'profile']
       */
      readonly scopes?: readonly string[] | undefined;
      /**
       * The claim with the names of groups.
       *
       * @default - groups count for nothing
       */
      readonly groupsClaim?: string | undefined;
      /**
       * Where the issuer leads `npx pennytrace login`, if it takes no other port: `http://localhost:8789/`.
       *
       * @default - `http://127.0.0.1/callback` with any port
       */
      readonly loopbackRedirectUri?: string | undefined;
    }
  | {
      /** A user pool of Amazon Cognito, whose people are invited. */
      readonly cognito: {
        /** What the address of the sign-in begins with: `acme-traces`. No other pool of the region has it. */
        readonly domainPrefix: string;
        /**
         * Names of identity providers that you added to the pool.
         *
         * @default - people have passwords in the pool
         */
        readonly providers?: readonly string[] | undefined;
      };
    }
);

/** A domain name of your own, for the API. */
export interface DomainOptions {
  /** The name: `tracing.example.com`. */
  readonly name: string;
  /** The ARN of its certificate in ACM, in the region of the stack. */
  readonly certificate: string;
  /**
   * The id of the hosted zone of Route 53 that gets an alias for the name.
   *
   * @default - you create the DNS record yourself
   */
  readonly zone?: string | undefined;
}

/** From where a private API can be reached. */
export interface PrivateOptions {
  /** The ids of VPC endpoints for `execute-api`, at most 20. */
  readonly vpcEndpointIds: readonly string[];
}

/**
 * The settings of a service. Each is checked when the construct is made, so none may be a token.
 * docs/configuration.md says more of each.
 */
export interface PennytraceProps {
  /**
   * How many partitions a project's calls are spread over. It is a power of two from 1 to 256, or a
   * history of them with the present one last. Append, never replace.
   *
   * @default 4
   */
  readonly shards?: number | readonly number[] | undefined;

  /**
   * Deletes calls and feedback this many days after they were stored: 1 to 36500.
   *
   * @default - they are kept
   */
  readonly retentionDays?: number | undefined;

  /**
   * Whether tables and bucket stay when the stack goes, with deletion protection and point-in-time
   * recovery.
   *
   * @default true
   */
  readonly keepData?: boolean | undefined;

  /**
   * Whether the tables can be restored to any second of the last 35 days, for $0.20 per GB and month.
   *
   * @default - as `keepData`
   */
  readonly pointInTimeRecovery?: boolean | undefined;

  /**
   * A domain name of your own: docs/configuration.md says how it is connected.
   *
   * @default - the API's own name
   */
  readonly domain?: DomainOptions | undefined;

  /**
   * Makes the API reachable only through VPC endpoints, and not from the internet.
   *
   * @default - it is reachable from anywhere
   */
  readonly private?: PrivateOptions | undefined;

  /**
   * Tags of all resources that can have some: values by their keys, at most 40.
   *
   * @default - only the tags of your app
   */
  readonly tags?: Readonly<Record<string, string>> | undefined;

  /**
   * How the capacity of the table of calls is paid for: per request, or by the hour with auto scaling, which is
   * cheaper for large and steady loads.
   *
   * @default - `onDemand`: per request
   */
  readonly billing?: 'onDemand' | 'provisioned' | BillingOptions | undefined;

  /**
   * Whether X-Ray traces API Gateway and the functions: the first request of each second and 5 % of
   * the others, at $5 a million traces.
   *
   * @default false
   */
  readonly xray?: boolean | undefined;

  /**
   * Whether feedback on a call stays when the call is deleted.
   *
   * @default false
   */
  readonly keepFeedback?: boolean | undefined;

  /**
   * How many days entries of the audit trail are kept: 1 to 36500.
   *
   * @default 365
   */
  readonly auditDays?: number | undefined;

  /**
   * Whether callers inside AWS may sign in place of sending a key: docs/keys.md.
   *
   * @default false
   */
  readonly iam?: boolean | undefined;

  /**
   * Lets people sign in, at an issuer of OpenID Connect or in a user pool that the stack makes.
   * docs/people.md explains it.
   *
   * @default - there are keys alone
   */
  readonly signIn?: SignInOptions | undefined;

  /**
   * How long API Gateway remembers what a key may do, in seconds: 0 to 3600. A revoked key works
   * for at most this long.
   *
   * @default 60
   */
  readonly authorizerCacheSeconds?: number | undefined;

  /**
   * Requests a second, of all callers together: 1 to 10000. More are answered 429.
   *
   * @default 1000
   */
  readonly throttleRate?: number | undefined;

  /**
   * Requests at once, of all callers together: 1 to 5000.
   *
   * @default 2000
   */
  readonly throttleBurst?: number | undefined;

  /**
   * The most requests per second to each route without a key, such as the page's files and `/health`, of
   * all callers together: 1 to 10000.
   *
   * @default 50
   */
  readonly openThrottleRate?: number | undefined;

  /**
   * The most requests that may come to each route without a key at once: 1 to 5000.
   *
   * @default 200
   */
  readonly openThrottleBurst?: number | undefined;

  /**
   * The most requests of one IP address in five minutes, 10 to 1000000. AWS WAF holds clients to it
   * for some $6 a month and $0.60 a million requests.
   *
   * @default - there is no firewall
   */
  readonly firewallRatePerAddress?: number | undefined;

  /**
   * Origins whose pages may send requests, such as `https://app.example.com`: at most 20. Browsers ask
   * beforehand, and get an answer.
   *
   * @default - no page of another origin reads an answer, and its requests with Basic are refused
   */
  readonly corsOrigins?: readonly string[] | undefined;

  /**
   * The source of calls that name none, by the environment that they name, for a project, `<entity>/*` or
   * `*`: `{ '*': { ci: 'test' } }`.
   *
   * @default - the environment says nothing of the source
   */
  readonly environmentSources?: Readonly<Record<string, Readonly<Record<string, CallSource>>>> | undefined;

  /**
   * How long a query may take, in seconds: 30 to 900. Lambda goes on with it when its client has
   * left.
   *
   * @default 300
   */
  readonly queryTimeoutSeconds?: number | undefined;

  /**
   * How many days logs are kept: a number that CloudWatch Logs knows.
   *
   * @default 30
   */
  readonly logRetentionDays?: number | undefined;

  /**
   * Where alarms are mailed to. AWS asks the address to confirm.
   *
   * @default - alarms show only in CloudWatch
   */
  readonly alarmEmail?: string | undefined;

  /**
   * The path or URL of the operations page, which each alarm names with its section.
   *
   * @default 'docs/operations.md'
   */
  readonly runbookUrl?: string | undefined;

  /**
   * Routes with metrics of their own, for which CloudWatch charges $1.80 a month each: their paths,
   * or `all`.
   *
   * @default - none
   */
  readonly routeMetrics?: 'all' | readonly string[] | undefined;

  /**
   * A budget in dollars a month, 1 to 1000000. It needs `alarmEmail`.
   *
   * @default - there is no budget
   */
  readonly monthlyBudget?: number | undefined;

  /**
   * Whether to make the role that API Gateway logs with. An account has one for each region. The
   * first service of a stack makes it for all of the stack; write false if another stack does.
   *
   * @default true
   */
  readonly accountLogRole?: boolean | undefined;

  /**
   * Where model requests go.
   *
   * @default - model requests are refused
   */
  readonly inferenceUpstreams?: readonly InferenceUpstream[] | undefined;

  /**
   * How long a model may take, in seconds: 30 to 900.
   *
   * @default 900
   */
  readonly inferenceTimeoutSeconds?: number | undefined;

  /**
   * Concurrent model requests of all callers together, 1 to 10000, set aside for them.
   *
   * @default - the account's limit counts
   */
  readonly inferenceConcurrency?: number | undefined;

  /**
   * Model requests of one key in a minute, 1 to 1000000. It adds a table.
   *
   * @default - no limit
   */
  readonly inferenceRatePerMinute?: number | undefined;

  /**
   * Puts what happens to calls and feedback on an event bus of the account and region:
   * docs/events.md.
   *
   * @default - there are no events
   */
  readonly events?: boolean | EventsOptions | undefined;

  /**
   * Writes calls and feedback as Parquet files, with tables and queries of Athena over them:
   * docs/analytics.md.
   *
   * @default - there are no files
   */
  readonly analytics?: boolean | AnalyticsOptions | undefined;

  /**
   * Whether tables have streams, and functions read them, for events, analytics and evaluators. With false,
   * these get nothing: for one deployment, to repair a table that was restored (docs/operations.md).
   *
   * @default true
   */
  readonly readStreams?: boolean | undefined;

  /**
   * What is taken out of all that is stored, before anything is: docs/redaction.md.
   *
   * @default - everything is stored as it is sent
   */
  readonly redact?: readonly RedactionRule[] | undefined;

  /**
   * Has objects of class `Evaluator` judge calls as they end: docs/evaluators.md.
   *
   * @default - nothing is judged
   */
  readonly evaluators?: boolean | EvaluatorsOptions | undefined;

  /**
   * Keeps model requests and judges within the dollars that keys and projects may spend a day and a
   * month: docs/limits.md.
   *
   * @default - any amount may be spent
   */
  readonly limits?: boolean | LimitsOptions | undefined;

  /**
   * Looks at objects of class `Alert` each minute, and tells of their changes: docs/alerts.md.
   *
   * @default - nobody is told
   */
  readonly alerts?: boolean | AlertsOptions | undefined;
}
