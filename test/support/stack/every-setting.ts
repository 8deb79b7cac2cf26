import type { Config } from '../../../lib/config.ts';

/** Every setting that there is, each with a value that asks for as much as it can. */
export const everySetting = {
  stackName: 'Weft',
  shards: '4,16',
  retentionDays: 90,
  keepData: true,
  pointInTimeRecovery: true,
  domain: {
    name: 'tracing.example.com',
    certificate: 'arn:aws:acm:eu-west-1:123456789012:certificate/0123abcd-0000-0000-0000-000000000000',
    zone: 'Z0123456789',
  },
  // It excludes a domain.
  private: undefined,
  tags: { team: 'tracing' },
  billing: { minUnits: 5, maxUnits: 4000, targetPercent: 70 },
  keepFeedback: false,
  auditDays: 3650,
  iam: true,
  signIn: {
    cognito: { domainPrefix: 'weft-traces', providers: ['Okta'] },
    admins: ['ada@example.com', 'group:ops'],
  },
  xray: true,
  authorizerCacheSeconds: 300,
  throttleRate: 10_000,
  throttleBurst: 5000,
  firewallRatePerAddress: 1000,
  queryTimeoutSeconds: 900,
  openThrottleRate: 20,
  openThrottleBurst: 100,
  corsOrigins: ['https://app.example.com'],
  environmentSources: { '*': { ci: 'test' } },
  logRetentionDays: 90,
  alarmEmail: 'ops@example.com',
  runbookUrl: 'https://example.com/operations.md',
  routeMetrics: 'all',
  monthlyBudget: 50,
  accountLogRole: true,
  inferenceUpstreams: [
    { name: 'one', models: ['gpt-*'], baseUrl: 'https://api.example.com/v1', keySecret: 'one' },
    { name: 'two', models: ['eu.anthropic.claude-x'], bedrock: { region: 'eu-west-1' } },
  ],
  inferenceTimeoutSeconds: 900,
  inferenceConcurrency: 10,
  inferenceRatePerMinute: 60,
  events: { bus: 'weft', payloads: true },
  analytics: { scanLimitGb: 10, keepDays: 90 },
  readStreams: true,
  redact: [{ name: 'email', builtin: 'email', action: 'hash' }],
  limits: true,
  evaluators: { concurrency: 10 },
  alerts: true,
} as const satisfies Record<keyof Config, unknown>;

/** The setting `signIn` of stacks whose functions get the issuer of a test. */
export const signInSettings = {
  issuer: 'https://issuer.example',
  clientId: 'pennytrace',
  admins: ['root@example.com'],
} as const;

/** The settings of the stack that tests run: they load the page as fast as they can. */
export const testSettings = { openThrottleRate: 10_000, openThrottleBurst: 5000 };
