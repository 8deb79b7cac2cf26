import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { aheadMs } from '../../support/run/clock/ahead.ts';
import { root } from '../../support/run/project.ts';

const run = promisify(execFile);
const ahead = join(root, 'test/support/run/clock/ahead.ts');

/** Tells the time in a thread, and in a process that it starts, both with nothing in their environment. */
const script = `
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { Worker } from 'node:worker_threads';

const say = '[Date.now(), new Date().getTime(), Date.parse(Date()), performance.timeOrigin + performance.now()]';
const thread = new Worker(\`require('node:worker_threads').parentPort.postMessage(\${say})\`, {
  eval: true,
  env: {},
  execArgv: [],
});
const inThread = await new Promise((resolve) => thread.once('message', resolve));
const inProcess = await new Promise((resolve, reject) =>
  execFile(process.execPath, ['--print', \`JSON.stringify(\${say})\`], { env: {} }, (error, out) =>
    error ? reject(error) : resolve(JSON.parse(out))));
const known = [new Date(5).getTime(), new Date(0) instanceof Date, new Date(0).constructor === Date];
const server = createServer((_, response) => response.writeHead(200, { a: 'b' }).end()).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const answer = await fetch('http://127.0.0.1:' + server.address().port);
server.close();
const ofServer = Date.parse(answer.headers.get('date'));
console.log(JSON.stringify({ here: eval(say), inThread, inProcess, ofServer: [ofServer], known }));
`;

it('A clock set ahead is that of a process, of its threads and servers, and of the processes that it starts', async () => {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, DAYS_AHEAD: '365', NODE_OPTIONS: `--require=${JSON.stringify(ahead)}` },
  });
  const { known, ...times } = JSON.parse(stdout);
  expect(known).toEqual([5, true, true]);
  const days = (ms: number) => Math.round((ms - Date.now() + aheadMs) / 86_400_000);
  for (const [place, list] of Object.entries<number[]>(times))
    expect([place, ...list.map(days)]).toEqual([place, ...list.map(() => 365)]);
});
