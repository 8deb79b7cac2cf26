import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { getHandlers } from '../../../api/endpoint.ts';
import { allRoutes } from '../../../api/routes.ts';
import about from '../../../package.json' with { type: 'json' };
import { cdkContext, root, temporaryFolder } from '../../support/run/project.ts';
import { assembly } from '../../support/stack/assembly.ts';
import { testSettings } from '../../support/stack/every-setting.ts';
import type { Resource } from '../../support/stack/template.ts';

/**
 * Runs the app as the CDK CLI does, from another folder, with no AWS account in its environment.
 */
const run = async (context: Record<string, unknown>) => {
  const outdir = temporaryFolder();
  const done = promisify(execFile)(process.execPath, [join(root, 'bin/pennytrace.ts')], {
    cwd: tmpdir(),
    env: {
      CDK_OUTDIR: outdir,
      CDK_CONTEXT_JSON: JSON.stringify(context),
      CDK_VALIDATION: process.env.CDK_VALIDATION,
      GOGC: process.env.GOGC,
    },
  });
  const { stdout, stderr } = await done;
  return { outdir, output: stdout + stderr };
};

describe('the app', () => {
  it('synthesizes the stack, prints nothing, and gives the same template each time', async () => {
    const { outdir, output } = await run({ ...cdkContext, ...testSettings });
    expect(output).toBe('');
    const text = (folder: string) => readFileSync(join(folder, 'Pennytrace.template.json'), 'utf8');
    expect(text(outdir)).toBe(text(assembly()));
    const template = JSON.parse(text(outdir));
    const functions = Object.values(template.Resources as Record<string, Resource>).filter(
      ({ Type }) => Type === 'AWS::Lambda::Function',
    );
    expect(functions).toHaveLength(getHandlers(allRoutes).length + 1);
    for (const { Properties } of functions) {
      const { S3Key } = Properties.Code as { S3Key: string };
      expect(existsSync(join(outdir, `asset.${S3Key.replace('.zip', '')}`, 'index.cjs'))).toBe(true);
    }
  });

  it('is started by cdk.json with the Node that the project brings, whatever Node runs the CLI', async () => {
    const { app } = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')) as { app: string };
    const [node = '', ...args] = app.split(' ');
    expect(args).toEqual(['bin/pennytrace.ts']);
    const done = await promisify(execFile)(node, ['--version'], {
      cwd: root,
      env: { PATH: '/usr/bin:/bin' },
    });
    expect(done.stdout.trim()).toBe(`v${about.devDependencies.node}`);
  });

  it('ends with only the problem of a wrong setting', async () => {
    const failed = await run({ retentionDays: 'forever' }).catch((error: unknown) => error);
    expect(failed).toMatchObject({
      code: 1,
      stderr: 'setting retentionDays is "forever": write a whole number from 1 to 36500\n',
    });
  });
});
