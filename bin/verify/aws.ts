import {
  CloudFormationClient,
  DescribeStacksCommand,
  paginateListStackResources,
  type StackResourceSummary,
} from '@aws-sdk/client-cloudformation';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { deaths } from '../../lib/dashboard.ts';
import { type Check, eventually, Red, type Target } from './checks.ts';

/** A deployed stack, as CloudFormation tells of it. */
export interface Deployed {
  readonly outputs: Readonly<Record<string, string>>;
  readonly resources: readonly StackResourceSummary[];
  /** POSTs a request to a service of AWS, with the credentials of whoever runs this. */
  readonly post: (service: string, type: string, body: string, target?: string) => Promise<string>;
}

/**
 * Reads what there is to know of a deployed stack.
 *
 * @throws the SDK's error if AWS refuses
 */
export const readDeployed = async (stack: string): Promise<Deployed> => {
  const client = new CloudFormationClient();
  const region = await client.config.region();
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stack }));
  const resources: StackResourceSummary[] = [];
  for await (const page of paginateListStackResources({ client }, { StackName: stack }))
    resources.push(...(page.StackResourceSummaries ?? []));
  const outputs = (Stacks[0]?.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [
    OutputKey,
    OutputValue,
  ]);
  const post: Deployed['post'] = async (service, type, body, target) => {
    const hostname = `${service}.${region}.amazonaws.com`;
    const signer = new SignatureV4({
      service,
      region,
      credentials: client.config.credentials,
      sha256: Sha256,
    });
    const headers = { host: hostname, 'content-type': type, ...(target && { 'x-amz-target': target }) };
    const request = { method: 'POST', protocol: 'https:', hostname, path: '/', headers, body };
    const { headers: signed } = await signer.sign(request);
    const answer = await fetch(`https://${hostname}/`, { method: 'POST', headers: signed, body });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${service} answers ${answer.status}: ${text.slice(0, 200)}`);
    return text;
  };
  return { outputs: Object.fromEntries(outputs), resources, post };
};

const minute = 60_000;

/** The checks that need AWS's own answers: what the service wrote into logs, alarms and files. */
export const awsChecks = ({ outputs, resources, post }: Deployed): readonly Check[] => {
  const since = Date.now();
  const named = (type: string, part: string): string | undefined =>
    resources.find(
      ({ ResourceType, LogicalResourceId = '' }) =>
        ResourceType === type && LogicalResourceId.startsWith(part),
    )?.PhysicalResourceId;
  /** The lines of a log since the start that fit a pattern. */
  const findLogLines = async (logGroupName: string | undefined, filterPattern: string): Promise<string[]> => {
    if (logGroupName === undefined) throw new Red('the stack has no such log group', 'deploy it again');
    const lines: string[] = [];
    for (let nextToken: string | undefined, first = true; first || nextToken !== undefined; first = false) {
      const body = JSON.stringify({ logGroupName, filterPattern, startTime: since, nextToken });
      const text = await post('logs', 'application/x-amz-json-1.1', body, 'Logs_20140328.FilterLogEvents');
      const page = JSON.parse(text) as { events: { message: string }[]; nextToken?: string };
      lines.push(...page.events.map(({ message }) => message));
      nextToken = page.nextToken;
    }
    return lines;
  };
  const functionsLog = named('AWS::Logs::LogGroup', 'FunctionsLog');

  const stackFits: Check = {
    name: 'the URL is that of the stack',
    run: async ({ url }) => {
      if (outputs.ApiUrl?.replace(/\/$/, '') === url) return;
      throw new Red(`the stack’s ApiUrl is ${outputs.ApiUrl}`, 'give --stack or --url of the same service');
    },
  };
  const logged: Check = {
    name: 'each request has a line in the log',
    run: () =>
      eventually(async () => {
        const lines = await findLogLines(functionsLog, '{ $.message = "request" && $.outcome = "answered" }');
        return lines.length > 0
          ? undefined
          : new Red('the log has no line of a request', 'see the log group’s policy and role');
      }, minute),
  };
  const alive: Check = {
    name: 'no function died',
    run: async () => {
      const pattern = deaths.map((death) => `?"${death}"`).join(' ');
      const [line] = await findLogLines(functionsLog, pattern);
      if (line !== undefined) throw new Red(line.slice(0, 200), 'run the saved query "Failures"');
    },
  };
  const alarms: Check = {
    name: 'no alarm rings',
    run: async () => {
      const names = resources.filter(({ ResourceType }) => ResourceType === 'AWS::CloudWatch::Alarm');
      const query = names.map(
        ({ PhysicalResourceId = '' }, i) =>
          `AlarmNames.member.${i + 1}=${encodeURIComponent(PhysicalResourceId)}`,
      );
      const body = ['Action=DescribeAlarms', 'Version=2010-08-01', ...query].join('&');
      const xml = await post('monitoring', 'application/x-www-form-urlencoded', body);
      const states = [...xml.matchAll(/<StateValue>(\w+)<\/StateValue>/g)].map(([, state]) => state);
      if (states.length !== names.length)
        throw new Red(`${states.length} of ${names.length} alarms are there`, 'deploy again');
      if (states.includes('ALARM'))
        throw new Red('an alarm rings', 'docs/operations.md has a section for each');
    },
  };
  const events: Check = {
    name: 'events are put on the bus',
    run: () =>
      eventually(async () => {
        const lines = await findLogLines(
          functionsLog,
          '{ $.route = "events" && $.outcome = "answered" && $.rows > 0 }',
        );
        return lines.length > 0
          ? undefined
          : new Red('no batch of events was delivered', 'docs/events.md: dead letters');
      }, 2 * minute),
  };
  const alertsLog = named('AWS::Logs::LogGroup', 'AlertsFunctionLog');
  const alerts: Check = {
    name: 'alerts are looked at each minute',
    run: () =>
      eventually(async () => {
        const lines = await findLogLines(alertsLog, '{ $.message = "alerts" && $.outcome = "answered" }');
        return lines.length > 0
          ? undefined
          : new Red('nobody has looked at alerts', 'docs/operations.md: the alarm Alerts');
      }, 2 * minute),
  };
  const athena = async (action: string, body: object): Promise<unknown> =>
    JSON.parse(
      await post('athena', 'application/x-amz-json-1.1', JSON.stringify(body), `AmazonAthena.${action}`),
    );
  const analytics: Check = {
    name: 'Athena finds the calls in their files',
    run: ({ run, project }: Target) =>
      eventually(
        async () => {
          const day = new Date(since).toISOString().slice(0, 10);
          const { QueryExecutionId } = (await athena('StartQueryExecution', {
            QueryString: `SELECT count(*) FROM calls WHERE project = '${project}' AND day >= '${day}' AND trace_id = '${run}'`,
            QueryExecutionContext: { Database: outputs.AnalyticsDatabase },
            WorkGroup: outputs.AnalyticsDatabase,
          })) as { QueryExecutionId: string };
          await eventually(async () => {
            const { QueryExecution } = (await athena('GetQueryExecution', { QueryExecutionId })) as {
              QueryExecution: { Status: { State: string; StateChangeReason?: string } };
            };
            const { State, StateChangeReason } = QueryExecution.Status;
            return State === 'SUCCEEDED'
              ? undefined
              : new Red(`Athena: ${State} ${StateChangeReason ?? ''}`, 'docs/analytics.md');
          }, minute);
          const { ResultSet } = (await athena('GetQueryResults', { QueryExecutionId })) as {
            ResultSet: { Rows: { Data: { VarCharValue?: string }[] }[] };
          };
          const count = ResultSet.Rows[1]?.Data[0]?.VarCharValue ?? '0';
          return count === '0'
            ? new Red('Athena finds none of the calls', 'docs/analytics.md: when rows come')
            : undefined;
        },
        8 * minute,
        20_000,
      ),
  };
  const hasEvents = resources.some(({ LogicalResourceId = '' }) =>
    LogicalResourceId.startsWith('EventsFunction'),
  );
  return [
    stackFits,
    logged,
    alive,
    alarms,
    ...(hasEvents ? [events] : []),
    ...(alertsLog === undefined ? [] : [alerts]),
    ...(outputs.AnalyticsDatabase === undefined ? [] : [analytics]),
  ];
};
