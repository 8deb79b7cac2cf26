/**
 * `npm run test:weave-python`: tries Weave's Python SDK, the newest there is and an older one that
 * many programs have, against the local service, which has OpenTelemetry's calls in the same project,
 * and writes what worked into docs/clients.md. It needs Python 3.10 or newer and its package registry.
 */

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { startLocalService } from '../../../local/service.ts';

const root = resolve(import.meta.dirname, '../../..');
/** What is installed of the SDK, by the name of its virtual environment. The first is the newest. */
const sdks = { newest: 'weave', '0.52': 'weave==0.52.*' } as const;
type Sdk = keyof typeof sdks;

const environmentFolder = (sdk: Sdk): string =>
  join(root, 'node_modules/.cache/pennytrace/weave-python', sdk);
const pythonPath = (sdk: Sdk): string => join(environmentFolder(sdk), 'bin/python');
const page = join(root, 'docs/clients.md');

/** What became of a flow, as flows.py prints it. */
interface Outcome {
  readonly group: string;
  readonly flow: string;
  readonly works: boolean;
  readonly problem: string | null;
  readonly seconds: number;
}

/** Makes the virtual environment, or brings it up to date. Gives the version of the SDK. */
const prepare = (sdk: Sdk): string => {
  const python = pythonPath(sdk);
  if (!existsSync(python))
    execFileSync('python3', ['-m', 'venv', environmentFolder(sdk)], { stdio: 'inherit' });
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--upgrade'];
  execFileSync(python, [...pip, sdks[sdk], 'pillow', 'numpy'], { stdio: 'inherit' });
  return execFileSync(python, ['-c', 'from importlib.metadata import version; print(version("weave"))'], {
    encoding: 'utf8',
  }).trim();
};

const show = ({ works, flow, problem, seconds }: Outcome): void =>
  console.log(
    `${works ? 'works ' : 'FAILS '} ${String(seconds).padStart(5)} s  ${flow}${problem ? `: ${problem}` : ''}`,
  );

/**
 * Runs the flows against a service. The SDK remembers on disk what it has published, whatever the
 * server, and does not send it again. So each run has a cache of its own.
 */
const tryAll = async (sdk: Sdk, url: string, key: string, chosen: readonly string[]): Promise<Outcome[]> => {
  const outcomes: Outcome[] = [];
  const cache = mkdtempSync(join(tmpdir(), 'weave-cache-'));
  const child = spawn(pythonPath(sdk), [join(import.meta.dirname, 'flows.py'), ...chosen], {
    env: {
      ...process.env,
      WF_TRACE_SERVER_URL: url,
      WANDB_BASE_URL: url,
      WANDB_API_KEY: key,
      WEAVE_SERVER_CACHE_DIR: cache,
    },
    stdio: ['ignore', 'pipe', process.env.VERBOSE ? 'inherit' : 'ignore'],
  });
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{')) continue;
    const outcome = JSON.parse(line) as Outcome;
    show(outcome);
    outcomes.push(outcome);
  }
  await ended;
  rmSync(cache, { recursive: true, force: true });
  return outcomes;
};

const begin = '<!-- flows: npm run test:weave-python -->';
const end = '<!-- end of flows -->';

/** An SDK that was tried. */
interface Tried {
  readonly version: string;
  readonly outcomes: readonly Outcome[];
}

/** Writes the table of flows into the page. */
const writeTable = (tried: readonly Tried[]): void => {
  const [newest] = tried;
  const groups = Map.groupBy(newest?.outcomes ?? [], ({ group }) => group);
  const cell = (flow: string, { outcomes }: Tried): string =>
    outcomes.find((outcome) => outcome.flow === flow)?.works ? 'works' : '**fails**';
  const rows = [...groups].flatMap(([group, flows]) =>
    flows.map(({ flow }, i) =>
      ['', i === 0 ? group : '', flow, ...tried.map((result) => cell(flow, result)), ''].join(' | ').trim(),
    ),
  );
  const counts = tried.map(({ version, outcomes }) => {
    const working = outcomes.filter(({ works }) => works).length;
    return `${working} of ${outcomes.length} flows work with the Python SDK ${version}`;
  });
  const table = [
    begin,
    '',
    `${counts.join(', ')}, by \`npm run test:weave-python\`.`,
    '',
    `| group | flow | ${tried.map(({ version }) => version).join(' | ')} |`,
    `| --- | --- |${' --- |'.repeat(tried.length)}`,
    ...rows,
    '',
    end,
  ].join('\n');
  const text = readFileSync(page, 'utf8');
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < 0) throw new Error('docs/clients.md has no place for the table of flows');
  writeFileSync(page, text.slice(0, from) + table + text.slice(to + end.length));
};

/** Reports a span of a model call to the project of the flows, as any exporter would. */
const reportSpan = async (url: string, key: string): Promise<void> => {
  const now = `${BigInt(Date.now()) * 1_000_000n}`;
  const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const span = {
    traceId: '5b8efff798038103d269b633813fc60c',
    spanId: 'eee19b7ec3c1b174',
    name: 'chat',
    startTimeUnixNano: now,
    endTimeUnixNano: now,
    attributes: [attribute('gen_ai.operation.name', 'chat'), attribute('gen_ai.request.model', 'gpt-4o')],
  };
  const response = await fetch(`${url}/otel/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({
      resourceSpans: [
        {
          resource: { attributes: [attribute('svc.project_id', 'acme/python-sdk')] },
          scopeSpans: [{ scope: { name: 'test' }, spans: [span] }],
        },
      ],
    }),
  });
  if (!response.ok) throw new Error(`the span was not taken: ${await response.text()}`);
};

const chosen = process.argv.slice(2);
const tried: Tried[] = [];
for (const sdk of Object.keys(sdks) as Sdk[]) {
  const version = prepare(sdk);
  console.log(`Python SDK ${version}`);
  const service = await startLocalService({
    ...(process.env.VERBOSE && {
      log: (source: string, line: string) => console.error(`${source}: ${line}`),
    }),
  });
  try {
    await reportSpan(service.url, service.key);
    tried.push({ version, outcomes: await tryAll(sdk, `${service.url}/weave`, service.key, chosen) });
  } finally {
    await service.stop();
  }
}
if (chosen.length === 0) writeTable(tried);
process.exit(tried.every(({ outcomes }) => outcomes.every(({ works }) => works)) ? 0 : 1);
