import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { run } from '../../../../bin/keys/command.ts';
import type { Table } from '../../../../core/foundations/storage/index.ts';
import { createStores } from '../../../support/stores.ts';

/**
 * What the command left behind: its exit code, and what it wrote, line ends at the very end aside.
 */
export interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The command for keys on a table of its own, in a project folder of its own. */
export interface Operator {
  readonly table: Table;
  /** The URL of the table's DynamoDB, which the environment names as well. */
  readonly endpoint: string;
  /** Stands for the project's folder; has an empty `.local/`. */
  readonly root: string;
  /** Runs the command with the arguments, which spaces separate. */
  readonly keys: (argv: string, options?: { interactive?: boolean; root?: string }) => Promise<Result>;
}

/** Makes an operator for the tests of one file, with an operator's environment in each of them. */
export const useOperator = (): (() => Operator) => {
  let operator: Operator | undefined;

  beforeAll(async () => {
    const { dynamodb, keysTable } = await createStores();
    const url = await dynamodb.config.endpoint?.();
    if (!url) throw new Error('the test stores have no endpoint of their own');
    const endpoint = `${url.protocol}//${url.hostname}:${url.port}`;
    const root = await mkdtemp(join(tmpdir(), 'keys-'));
    await mkdir(join(root, '.local'));
    operator = { table: { client: dynamodb, name: keysTable }, endpoint, root, keys: runIn(root) };
  });

  beforeEach(() => {
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', operator?.endpoint);
    vi.stubEnv('AWS_REGION', 'us-east-1');
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  });

  afterEach(() => {
    vi.unstubAllEnvs();
  });

  afterAll(async () => {
    if (operator) await rm(operator.root, { recursive: true });
  });

  return () => {
    if (!operator) throw new Error('the operator is there once the tests run');
    return operator;
  };
};

const runIn =
  (project: string): Operator['keys'] =>
  async (argv, { interactive = false, root = project } = {}) => {
    const out: string[] = [];
    const err: string[] = [];
    const code = await run(argv.split(' '), {
      out: (line) => out.push(line),
      err: (line) => err.push(line),
      interactive,
      root,
    });
    return { code, out: out.join('\n'), err: err.join('\n') };
  };
