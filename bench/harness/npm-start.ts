/** The local service as people run it: by `npm start`, in processes of its own. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

/** The service, as an operator starts it. Disposal ends it. */
export interface Started extends AsyncDisposable {
  readonly pid: number;
  /** Sends a POST, or a GET without a body, and reads the answer. */
  readonly send: (path: string, body?: object) => Promise<string>;
}

/**
 * Starts the service on a free port, with its data in memory.
 *
 * @param clients how many connections there may be
 */
export const startByNpm = async (clients: number): Promise<Started> => {
  const npm = spawn('npm', ['start'], {
    cwd: resolve(import.meta.dirname, '../..'),
    env: { ...process.env, PORT: '0', DEMO: '0', LOCAL_KEY: '', DATA_DIR: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
    // Everything below it ends by one signal.
    detached: true,
  });
  const { pid = 0 } = npm;
  const end = () => process.kill(-pid, 'SIGINT');
  let url = '';
  let key = '';
  const lines = createInterface({ input: npm.stdout });
  for await (const line of lines) {
    url = /^ready (\S+)/.exec(line)?.[1] ?? url;
    key = /^key [^:]+: (\S+)/.exec(line)?.[1] ?? key;
    if (url && key) break;
  }
  npm.stdout.resume();
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const headers = { authorization: `Basic ${btoa(`api:${key}`)}`, 'content-type': 'application/json' };
  return {
    pid,
    send: async (path, body) => {
      const sent = request(`${url}${path}`, { agent, method: body ? 'POST' : 'GET', headers });
      sent.end(body && JSON.stringify(body));
      const [answer] = await once(sent, 'response');
      const read = await text(answer);
      if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${read}`);
      return read;
    },
    [Symbol.asyncDispose]: async () => {
      agent.destroy();
      const ended = once(npm, 'close');
      end();
      await ended;
    },
  };
};
