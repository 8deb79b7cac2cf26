import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, it } from 'vitest';
import { paced } from '../../support/run/pace.ts';
import { root, temporaryFolder } from '../../support/run/project.ts';
import { type SharedService, sharedService } from '../../support/service/service.ts';

const program = join(root, 'test/weave/npm/flows.mjs');

/** The titles of the flows. */
const titles = [...readFileSync(program, 'utf8').matchAll(/^flow\('([^']+)'/gm)].map(
  ([, title = '']) => title,
);

/** What became of a flow, as the program prints it. */
interface Outcome {
  readonly flow: string;
  readonly problem: string | null;
}

let service: SharedService;
let before = 0;
const outcomes = new Map<string, string | null>();
beforeAll(async () => {
  service = await sharedService();
  before = service.logged.length;
  // Where it writes what it could not send, and looks for credentials.
  const cwd = temporaryFolder();
  const child = spawn(process.execPath, [program], {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: cwd,
      WF_TRACE_SERVER_URL: `${service.url}/weave`,
      WANDB_BASE_URL: `${service.url}/weave`,
      WANDB_API_KEY: service.key,
      INFERENCE_URL: `${service.url}/inference/v1`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [printed] = await Promise.all([text(child.stdout), text(child.stderr)]);
  for (const line of printed.split('\n').filter((text) => text.startsWith('{"flow"'))) {
    const { flow, problem } = JSON.parse(line) as Outcome;
    outcomes.set(flow, problem);
  }
}, paced(300_000));

it('the program has 17 flows', () => {
  expect(titles).toHaveLength(17);
});

it.each(titles)('Weave’s npm SDK: %s', (title) => {
  expect(outcomes.has(title)).toBe(true);
  expect(outcomes.get(title)).toBeNull();
});

it('no batch that could be stored was refused', () => {
  const refused = service.logged
    .slice(before)
    .filter((line) => /"route":"\/weave\/call\/upsert_batch".*"status":4\d\d/.test(line));
  expect(refused).toEqual([]);
});
