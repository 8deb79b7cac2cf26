/**
 * `npm run test:weave-python`: tries Weave's Python SDK, the newest there is, against the local
 * service in Weave's dialect, and writes what worked into docs/weave.md. It needs Python 3.10 or
 * newer and its package registry.
 */

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { startLocalService } from '../../../local/service.ts';

const root = resolve(import.meta.dirname, '../../..');
const environment = join(root, 'node_modules/.cache/pennytrace/weave-python');
const python = join(environment, 'bin/python');
const page = join(root, 'docs/weave.md');

/** What became of a flow, as flows.py prints it. */
interface Outcome {
  readonly group: string;
  readonly flow: string;
  readonly works: boolean;
  readonly problem: string | null;
  readonly seconds: number;
}

/** Makes the virtual environment, or brings it up to date. Gives the version of the SDK. */
const prepare = (): string => {
  if (!existsSync(python)) execFileSync('python3', ['-m', 'venv', environment], { stdio: 'inherit' });
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--upgrade'];
  execFileSync(python, [...pip, 'weave', 'pillow', 'numpy'], { stdio: 'inherit' });
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
const tryAll = async (url: string, key: string, chosen: readonly string[]): Promise<Outcome[]> => {
  const outcomes: Outcome[] = [];
  const cache = mkdtempSync(join(tmpdir(), 'weave-cache-'));
  const child = spawn(python, [join(import.meta.dirname, 'flows.py'), ...chosen], {
    env: {
      ...process.env,
      ...{ WF_TRACE_SERVER_URL: url, WANDB_BASE_URL: url, WANDB_API_KEY: key },
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

/** Writes the table of flows into the page. */
const writeTable = (version: string, outcomes: readonly Outcome[]): void => {
  const working = outcomes.filter(({ works }) => works).length;
  const groups = Map.groupBy(outcomes, ({ group }) => group);
  const rows = [...groups].flatMap(([group, flows]) =>
    flows.map(
      ({ flow, works }, i) => `| ${i === 0 ? group : ''} | ${flow} | ${works ? 'works' : '**fails**'} |`,
    ),
  );
  const table = [
    begin,
    '',
    `Python SDK ${version}: ${working} of ${outcomes.length} flows work, by \`npm run test:weave-python\`.`,
    '',
    '| group | flow | |',
    '| --- | --- | --- |',
    ...rows,
    '',
    end,
  ].join('\n');
  const text = readFileSync(page, 'utf8');
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < 0) throw new Error('docs/weave.md has no place for the table of flows');
  writeFileSync(page, text.slice(0, from) + table + text.slice(to + end.length));
};

const chosen = process.argv.slice(2);
const version = prepare();
const service = await startLocalService({
  settings: { dialect: 'weave' },
  ...(process.env.VERBOSE && { log: (source: string, line: string) => console.error(`${source}: ${line}`) }),
});
let outcomes: Outcome[] = [];
try {
  outcomes = await tryAll(service.url, service.key, chosen);
} finally {
  await service.stop();
}
if (chosen.length === 0) writeTable(version, outcomes);
process.exit(outcomes.every(({ works }) => works) ? 0 : 1);
