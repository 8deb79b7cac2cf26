import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { isRunning } from '../../local/running.ts';
import { Failure } from './failure.ts';
import { readJson } from './json.ts';

const schema = z.object({
  pid: z.int().positive(),
  service: z.string(),
  authorizerCacheSeconds: z.number(),
  dynamodb: z.url(),
  tables: z.object({ keys: z.string() }),
});

/** The fields of a running service's file that the command needs. */
export type LocalService = z.output<typeof schema>;

const answerMs = 2000;

/** Whether something listens on a port of the loopback address. */
const listens = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1');
  const connected = once(socket, 'connect').then(
    () => true,
    () => false,
  );
  const listening = await Promise.race([connected, sleep(answerMs, false, { ref: false })]);
  socket.destroy();
  return listening;
};

/** Advice for a missing service. It names the ports of services with a file. */
const advice = async (port: number, root: string): Promise<string> => {
  const files = await readdir(join(root, '.local')).catch(() => []);
  const others = files
    .flatMap((file) => /^(\d+)\.json$/.exec(file)?.[1] ?? [])
    .filter((other) => other !== String(port));
  return `start it (npm start), or name the port of another (--local=${others.join(', --local=') || 'PORT'})`;
};

/**
 * Reads the file of the local service on a port.
 *
 * @param root the project's folder, absolute
 * @throws Failure if there is no file, or its service has ended
 */
export const runningService = async (port: number, root: string): Promise<LocalService> => {
  const file = join('.local', `${port}.json`);
  const content = await readJson(join(root, file));
  if (content === undefined)
    throw new Failure(`no local service on port ${port} (there is no ${file}): ${await advice(port, root)}`);
  const { success, data } = schema.safeParse(content);
  if (!success) throw new Failure(`${file} was not written by this version of the service: restart it`);
  if (!isRunning(data.pid) || !(await listens(port)))
    throw new Failure(
      `the local service on port ${port}, process ${data.pid}, has ended without removing ${file}: ` +
        (await advice(port, root)),
    );
  return data;
};
