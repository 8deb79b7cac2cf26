import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { FunctionSpec } from 'cdk-local-runner/template';
import { expect, it } from 'vitest';
import { withRedactionKey } from '../../../local/environment.ts';
import { temporaryFolder } from '../../support/run/project.ts';

const makeSpec = (environment: Record<string, string>): FunctionSpec => ({
  name: 'f',
  arn: 'arn',
  folder: '/',
  handler: 'index.handler',
  timeoutSeconds: 3,
  memoryMb: 128,
  environment,
});
const reference = makeSpec({ REDACTION_KEY: '{{resolve:secretsmanager:x:SecretString:::}}', OTHER: '1' });
const getKey = async (folder?: string) => {
  const [made] = await withRedactionKey([reference], folder);
  return made?.environment.REDACTION_KEY;
};

it('functions that redact have a key in place of the reference, and others none', async () => {
  const other = makeSpec({ OTHER: '1' });
  const made = await withRedactionKey([reference, other], undefined);
  expect(made[0]?.environment).toEqual({
    REDACTION_KEY: expect.stringMatching(/^[0-9a-f]{64}$/),
    OTHER: '1',
  });
  expect(made[1]).toBe(other);
});

it('the key of a folder stays, readable by its owner only, and another start without one has another', async () => {
  const folder = temporaryFolder();
  expect(await getKey(folder)).toBe(await getKey(folder));
  expect(statSync(join(folder, 'redaction-key')).mode & 0o777).toBe(0o600);
  expect(await getKey()).not.toBe(await getKey());
});
