import { deaths } from '../../lib/dashboard.ts';
import { eventually, Red, requireStack, type Target } from './check.ts';
import { askJson, findResources } from './deployed.ts';

const minute = 60_000;

/** The lines of a log since the start of the run that fit a pattern. */
const findLogLines = async (target: Target, beginning: string, filterPattern: string): Promise<string[]> => {
  const stack = requireStack(target);
  const [logGroupName] = findResources(stack, 'AWS::Logs::LogGroup', beginning);
  if (logGroupName === undefined) throw new Red('the stack has no such log group', 'deploy it again');
  const lines: string[] = [];
  for (let nextToken: string | undefined, first = true; first || nextToken !== undefined; first = false) {
    const page = (await askJson(stack, 'logs', 'Logs_20140328.FilterLogEvents', {
      logGroupName,
      filterPattern,
      startTime: target.since,
      nextToken,
    })) as { events: { message: string }[]; nextToken?: string };
    lines.push(...page.events.map(({ message }) => message));
    nextToken = page.nextToken;
  }
  return lines;
};

/** Waits for a line of a log. */
export const waitForLine = (
  target: Target,
  beginning: string,
  pattern: string,
  missing: Red,
  ms = minute,
): Promise<void> =>
  eventually(
    target,
    async () => {
      const lines = await findLogLines(target, beginning, pattern);
      return lines.length > 0 ? undefined : missing;
    },
    ms,
  );

export const logged = async (target: Target): Promise<void> =>
  waitForLine(
    target,
    'FunctionsLog',
    '{ $.message = "request" && $.outcome = "answered" }',
    new Red('the log has no line of a request', 'see the log group’s policy and role'),
  );

export const alive = async (target: Target): Promise<void> => {
  const pattern = deaths.map((death) => `?"${death}"`).join(' ');
  const [line] = await findLogLines(target, 'FunctionsLog', pattern);
  if (line !== undefined) throw new Red(line.slice(0, 200), 'run the saved query "Failures"');
};

/** How many alarms a request names: DescribeAlarms takes 100. */
const alarmsAtOnce = 100;

export const quiet = async (target: Target): Promise<void> => {
  const stack = requireStack(target);
  const names = findResources(stack, 'AWS::CloudWatch::Alarm');
  const states: (string | undefined)[] = [];
  for (let i = 0; i < names.length; i += alarmsAtOnce) {
    const form = new URLSearchParams({
      Action: 'DescribeAlarms',
      Version: '2010-08-01',
      MaxRecords: String(alarmsAtOnce),
    });
    for (const [n, name] of names.slice(i, i + alarmsAtOnce).entries())
      form.set(`AlarmNames.member.${n + 1}`, name);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const xml = await stack.ask('monitoring', { headers, body: form.toString() });
    states.push(...[...xml.matchAll(/<StateValue>(\w+)<\/StateValue>/g)].map(([, state]) => state));
  }
  if (states.length !== names.length)
    throw new Red(`${states.length} of ${names.length} alarms are there`, 'deploy again');
  if (states.includes('ALARM')) throw new Red('an alarm rings', 'docs/operations.md has a section for each');
};

export const ownUrl = async (target: Target): Promise<void> => {
  const { outputs } = requireStack(target);
  if (outputs.ApiUrl?.replace(/\/$/, '') === target.url) return;
  throw new Red(`the stack’s ApiUrl is ${outputs.ApiUrl}`, 'give --stack or --url of the same service');
};

export const deployment = async (target: Target): Promise<void> => {
  const { status } = requireStack(target);
  if (['CREATE_COMPLETE', 'UPDATE_COMPLETE', 'IMPORT_COMPLETE'].includes(status)) return;
  throw new Red(`the stack’s status is ${status}`, 'see docs/deploying.md: when a deployment fails');
};
