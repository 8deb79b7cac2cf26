import { randomUUID } from 'node:crypto';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { readAssembly, resolveRef } from 'cdk-local-runner/template';
import type { Catalog } from '../stack/rehearsal/catalog.ts';
import { type ControlledStack, startControlPlane } from './control-plane.ts';
import { startSecretsManager } from './secrets-manager.ts';
import type { TestService } from './service.ts';
import { serve } from './upstream.ts';

/** What goes wrong in the stand-in, until a test says otherwise: nothing. */
interface Moods {
  /** Lines in the log of functions beside those that were written. */
  lines: string[];
  /** Whether the log has the lines that were written. */
  hasLog: boolean;
  alarm: 'OK' | 'ALARM';
  /** Whether files have the rows that were written. */
  hasRows: boolean;
  /** Whether S3 takes no notice of `If-Match`. */
  ignoresConditions: boolean;
  /** The services, or operations of `service:Operation`, that there are not. */
  lacking: Set<string>;
}

/** All of AWS that a stack is looked at through, on one endpoint. */
export interface Aws extends AsyncDisposable {
  readonly endpoint: string;
  /** Changes the stack, or its outputs. */
  readonly changeStack: (change: Partial<ControlledStack>) => void;
  readonly changeOutputs: (outputs: Readonly<Record<string, string>>) => void;
  /** Gives the stack's secret with that logical id another value. */
  readonly setSecret: (beginning: string, value: string) => void;
  /** Makes everything as it was at the start. */
  readonly reset: () => void;
  /** The environments of functions that Lambda tells of, by their names. */
  readonly environments: Map<string, Readonly<Record<string, string>>>;
  readonly moods: Moods;
}

const goodMoods = (): Moods => ({
  lines: [],
  hasLog: true,
  alarm: 'OK',
  hasRows: true,
  ignoresConditions: false,
  lacking: new Set(),
});

interface Sources {
  readonly service: TestService;
  /** The name and the folder of the stack that the service runs. */
  readonly stackName: string;
  readonly assembly: string;
  /** Answers in Athena's place. */
  readonly catalog: Catalog;
}

/** The service that a request is signed for. */
const signedFor = ({ headers }: IncomingMessage): string =>
  /Credential=[^/]+\/[^/]+\/[^/]+\/([^/]+)\//.exec(headers.authorization ?? '')?.[1] ?? '';

/** Sends a request on as it is, so that its signature holds. */
const forward = (origin: string, req: IncomingMessage, res: ServerResponse): void => {
  const onward = request(new URL(req.url ?? '/', origin), { method: req.method, headers: req.headers });
  onward.once('response', (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.once('error', () => res.destroy()).pipe(res);
  });
  onward.once('error', () => res.destroy());
  res.once('close', () => onward.destroy());
  req.pipe(onward);
};

type Line = Readonly<Record<string, unknown>>;

const parseLine = (line: string): Line => (line.startsWith('{') ? JSON.parse(line) : {});

/** One condition of a JSON filter pattern: `$.rows > 0`. */
const holds = (line: Line, condition: string): boolean => {
  const [, field = '', operator, value = ''] = /^\$\.(\w+) (=|>) (.+)$/.exec(condition.trim()) ?? [];
  if (operator === undefined) throw new Error(`the condition ${condition} is not supported`);
  return operator === '=' ? line[field] === JSON.parse(value) : Number(line[field]) > Number(value);
};

/**
 * Whether a line fits a filter pattern of CloudWatch Logs, as far as they are used here.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
 */
const fitsFilter = (line: string, pattern: string): boolean => {
  const [, json] = /^\{(.+)\}$/.exec(pattern) ?? [];
  if (json !== undefined) return json.split('&&').every((condition) => holds(parseLine(line), condition));
  return [...pattern.matchAll(/\?"([^"]+)"/g)].some(([, term = '']) => line.includes(term));
};

/** CloudWatch Logs, over the lines that a service logged. */
const filterEvents = (
  { logged }: TestService,
  { hasLog, lines }: Moods,
  { logGroupName, filterPattern, nextToken }: Readonly<Record<string, string>>,
): object => {
  // As AWS may, it gives an empty page first.
  if (nextToken === undefined) return { events: [], nextToken: 'more' };
  const ofAlerts = logGroupName?.includes('AlertsFunctionLog');
  const written = logged
    .map((line) => ({
      source: line.slice(0, line.indexOf(': ')),
      message: line.slice(line.indexOf(': ') + 2),
    }))
    .filter(({ source }) => source.includes('AlertsFunction') === ofAlerts);
  const events = [...(hasLog ? written : []), ...lines.map((message) => ({ message }))];
  return { events: events.filter(({ message }) => fitsFilter(message, filterPattern ?? '')) };
};

/** Athena, over the files. */
const athena = (catalog: Catalog, moods: Moods) => {
  const answers = new Map<string, readonly (readonly string[])[]>();
  return {
    StartQueryExecution: async ({
      QueryString,
      QueryExecutionContext,
    }: Readonly<Record<string, unknown>>) => {
      await catalog.load();
      const { Database } = QueryExecutionContext as { Database: string };
      const rows = await catalog.ask(Database, String(QueryString));
      const id = randomUUID();
      const values = rows.map((row) =>
        Object.values(row).map((value) => (moods.hasRows ? String(value) : '0')),
      );
      answers.set(id, [Object.keys(rows[0] ?? {}), ...values]);
      return { QueryExecutionId: id };
    },
    GetQueryExecution: async () => ({ QueryExecution: { Status: { State: 'SUCCEEDED' } } }),
    GetQueryResults: async ({ QueryExecutionId }: Readonly<Record<string, unknown>>) => {
      const rows = answers.get(String(QueryExecutionId)) ?? [];
      const Rows = rows.map((row) => ({ Data: row.map((VarCharValue) => ({ VarCharValue })) }));
      return { ResultSet: { Rows } };
    },
  };
};

/**
 * Stands in for AWS as operators ask it about a stack: the stores, queues and secrets that exist here, and
 * what the service logged. It tells services apart by whom a request is signed for.
 */
export const startAws = async ({ service, stackName, assembly, catalog }: Sources): Promise<Aws> => {
  await using cleanup = new AsyncDisposableStack();
  const controlPlane = cleanup.use(await startControlPlane());
  const secrets = cleanup.use(await startSecretsManager());
  const { template } = readAssembly(assembly);
  const environments = new Map<string, Readonly<Record<string, string>>>();
  const moods = goodMoods();
  const stack: ControlledStack = {
    name: stackName,
    status: 'CREATE_COMPLETE',
    resources: Object.entries(template.Resources).map(([id, resource]) => ({
      id,
      type: resource.Type,
      name:
        resource.Type === 'AWS::SecretsManager::Secret'
          ? secrets.create(id, randomUUID())
          : resolveRef(stackName, id, resource),
    })),
    outputs: { ...service.stack.outputs, ApiUrl: `${service.url}/` },
    template,
  };
  const setStack = (change: Partial<ControlledStack>): void => {
    controlPlane.stacks.splice(0, 1, { ...(controlPlane.stacks[0] ?? stack), ...change });
  };
  setStack(stack);
  const places: Readonly<Record<string, string>> = {
    cloudformation: controlPlane.endpoint,
    dynamodb: service.dynamodb,
    s3: service.s3,
    secretsmanager: secrets.endpoint,
    events: service.bus.endpoint,
    sqs: service.bus.endpoint,
  };
  const queries = athena(catalog, moods);
  const answer = async (name: string, req: IncomingMessage): Promise<string | undefined> => {
    const body = await text(req);
    const [, operation = ''] = String(req.headers['x-amz-target']).split('.');
    if (name === 'monitoring') {
      const form = new URLSearchParams(body);
      const asked = [...form.keys()].filter((key) => key.startsWith('AlarmNames.member.'));
      return asked.map(() => `<member><StateValue>${moods.alarm}</StateValue></member>`).join('');
    }
    if (name === 'logs') return JSON.stringify(filterEvents(service, moods, JSON.parse(body)));
    if (name === 'lambda') {
      const [, called = ''] = /functions\/([^/]+)\/configuration$/.exec(req.url ?? '') ?? [];
      const Variables = environments.get(called);
      return Variables && JSON.stringify({ Environment: { Variables } });
    }
    if (name === 'athena' && operation in queries)
      return JSON.stringify(await queries[operation as keyof typeof queries](JSON.parse(body)));
    return undefined;
  };
  const { origin, ...server } = await serve((req, res) => {
    const name = signedFor(req);
    const place = places[name];
    const [, operation = ''] = String(req.headers['x-amz-target']).split('.');
    if (moods.lacking.has(name) || moods.lacking.has(`${name}:${operation}`))
      return void res.writeHead(400).end('{"__type": "UnknownOperationException"}');
    if (name === 's3' && moods.ignoresConditions) delete req.headers['if-match'];
    if (place !== undefined) return forward(place, req, res);
    answer(name, req).then(
      (body) => (body === undefined ? res.writeHead(501).end('{}') : res.end(body)),
      (error: unknown) => res.writeHead(500).end(String(error)),
    );
  });
  cleanup.use(server);
  const owned = cleanup.move();
  return {
    endpoint: origin,
    changeStack: setStack,
    changeOutputs: (outputs) => setStack({ outputs: { ...stack.outputs, ...outputs } }),
    setSecret: (beginning, value) => {
      const { name = '' } =
        stack.resources.find(
          ({ id, type }) => type === 'AWS::SecretsManager::Secret' && id.startsWith(beginning),
        ) ?? {};
      secrets.create(name.split(':secret:')[1] ?? '', value);
    },
    reset: () => {
      setStack(stack);
      environments.clear();
      Object.assign(moods, goodMoods());
    },
    environments,
    moods,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
};
