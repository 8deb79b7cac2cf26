import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { defaultServiceName } from '../../../core/wire/names.ts';
import { handlers } from '../../../lib/handlers.ts';
import { assembly } from '../../support/assembly.ts';
import { root, temporaryFolder } from '../../support/project.ts';
import type { Resource } from '../../support/synth.ts';

const run = promisify(execFile);

/**
 * Somebody else's app: a stack with two services and a function of its own. The second has a
 * nested stack around it, because two of them leave hardly any room in a stack of 500 resources.
 */
const source = `
import { App, CfnOutput, NestedStack, Stack } from 'aws-cdk-lib';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Pennytrace, type PennytraceProps } from 'pennytrace';

const stack = new Stack(new App({ outdir: 'cdk.out', analyticsReporting: false }), 'Shop');
const one = new Pennytrace(stack, 'One');
const other: PennytraceProps = { serviceName: 'weft', keepData: false };
const room = new NestedStack(stack, 'Room');
new Pennytrace(room, 'Two', other);
new CfnOutput(stack, 'Url', { value: one.apiUrl });
const agent = new LambdaFunction(stack, 'Agent', {
  runtime: Runtime.NODEJS_24_X,
  handler: 'index.handler',
  code: Code.fromInline('exports.handler = async () => {};'),
});
one.grantReport(agent, { project: 'acme/shop' });
// @ts-expect-error: the stack is theirs, and its name too.
void ({ stackName: 'Weft' } satisfies PennytraceProps);
(stack.node.root as App).synth();
`;

/** It takes 15 s on two quiet cores, and much longer beside other work. */
const packingMs = 300_000;

const compilerOptions = {
  ...{ module: 'nodenext', target: 'es2024', strict: true, noEmit: true, skipLibCheck: true },
  types: [],
};

interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
}

/** All that the stacks of an app have, nested ones too. */
const templateIn = (folder: string): Template => ({
  Resources: Object.assign(
    {},
    ...readdirSync(folder)
      .filter((name) => /\.template\.json$/.test(name))
      .map((name) => (JSON.parse(readFileSync(join(folder, name), 'utf8')) as Template).Resources),
  ),
});

interface Policy {
  readonly PolicyDocument: {
    readonly Statement: readonly { readonly Action: string | string[]; readonly Resource: unknown }[];
  };
}

/** The key of each function's code, by the logical id without the hash at its end. */
const codeOf = ({ Resources }: Template): Map<string, string> =>
  new Map(
    Object.entries(Resources)
      .filter(([, { Type }]) => Type === 'AWS::Lambda::Function')
      .map(([id, { Properties }]) => [id.slice(0, -8), Properties.Code as { S3Key?: string }] as const)
      .flatMap(([id, { S3Key }]) => (S3Key === undefined ? [] : [[id, S3Key]])),
  );

describe('the package that npm packs', () => {
  const folder = temporaryFolder();
  const installed = join(folder, 'node_modules/pennytrace');
  let packed: string[];

  /** Installs it as npm does, with CDK and nothing else beside it. No registry is asked. */
  beforeAll(async () => {
    const npm = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root });
    const [{ filename, files }] = JSON.parse(npm.stdout.slice(npm.stdout.indexOf('[')));
    packed = files.map(({ path }: { path: string }) => path);
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xzf', join(folder, filename), '-C', installed, '--strip-components=1']);
    for (const name of ['aws-cdk-lib', 'constructs'])
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.ts'] }));
    writeFileSync(join(folder, 'app.ts'), source);
    // CloudFormation's rules are checked in the rehearsal: here they would take half the time.
    const env = { ...process.env, CDK_VALIDATION: 'false' };
    await run(process.execPath, ['app.ts'], { cwd: folder, env });
  }, packingMs);

  it('has the construct, the bundles and the documents, and no source', () => {
    expect([...new Set(packed.map((path) => path.split('/')[0]))].toSorted()).toEqual(
      ['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'docs', 'package.json'].toSorted(),
    );
    expect(packed.filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))).toEqual([]);
    for (const handler of handlers) expect(packed).toContain(`dist/bundles/${handler}/index.cjs`);
  });

  it('imports CDK and Node, so that no package has to come with it', () => {
    const code = readFileSync(join(installed, 'dist/lib/index.js'), 'utf8');
    const imports = [...code.matchAll(/^import .* from "([^"]+)";$/gm)].map(([, name = '']) => name);
    const { peerDependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    const expected = new RegExp(`^(?:node:.*|(?:${Object.keys(peerDependencies).join('|')})(?:/.*)?)$`);
    expect(imports.length).toBeGreaterThan(10);
    expect(imports.filter((name) => !expected.test(name))).toEqual([]);
  });

  it('has types that a strict compiler accepts, and that know each prop', async () => {
    await expect(run(join(root, 'node_modules/.bin/tsc'), [], { cwd: folder })).resolves.toMatchObject({
      stdout: '',
    });
  });

  it('is loaded by an app that is CommonJS, too', async () => {
    const script = "console.log(typeof require('pennytrace').Pennytrace)";
    const { stdout } = await run(process.execPath, ['--eval', script], { cwd: folder });
    expect(stdout).toBe('function\n');
  });

  it('synthesizes two services in one stack, with the bundles that it brings', () => {
    const out = join(folder, 'cdk.out');
    const code = codeOf(templateIn(out));
    const own = [...codeOf(templateIn(assembly())).keys()];
    expect([...code.keys()].filter((id) => /^(?:One|Two)/.test(id))).toEqual(
      expect.arrayContaining(own.flatMap((id) => [`One${id}`, `Two${id}`])),
    );
    for (const key of code.values())
      expect(readdirSync(join(out, `asset.${key.replace('.zip', '')}`))).toContain('index.cjs');
  });

  it('deploys the same code as the project’s own app, but for the text of the OpenAPI document', () => {
    const own = codeOf(templateIn(assembly()));
    const theirs = codeOf(templateIn(join(folder, 'cdk.out')));
    const different = [...own].filter(([id, key]) => theirs.get(`One${id}`) !== key).map(([id]) => id);
    expect(different).toEqual(['FunctionsOpenapiFunction']);
  });

  it('answers the OpenAPI document in the names of each service', () => {
    const out = join(folder, 'cdk.out');
    const code = codeOf(templateIn(out));
    const documentOf = (service: string) => {
      const key = code.get(`${service}FunctionsOpenapiFunction`) ?? '';
      return readFileSync(join(out, `asset.${key.replace('.zip', '')}`, 'index.cjs'), 'utf8');
    };
    expect(documentOf('One')).toContain(`${defaultServiceName}_ref`);
    expect(documentOf('Two')).toContain('weft_ref');
    expect(documentOf('Two')).not.toContain(`${defaultServiceName}_ref`);
  });

  it('gives no role of its own a wildcard but where AWS takes nothing narrower', () => {
    const { Resources } = templateIn(join(folder, 'cdk.out'));
    const statements = Object.values(Resources)
      .filter(({ Type }) => Type === 'AWS::IAM::Role')
      .flatMap(({ Properties }) => (Properties.Policies ?? []) as Policy[])
      .flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
    expect(statements.length).toBeGreaterThan(100);
    expect(statements.filter(({ Action }) => [Action].flat().some((name) => name.includes('*')))).toEqual([]);
    const everywhere = statements.filter(({ Resource }) => [Resource].flat().includes('*'));
    expect(new Set(everywhere.flatMap(({ Action }) => Action))).toEqual(
      new Set(['xray:PutTelemetryRecords', 'xray:PutTraceSegments']),
    );
  });

  it('lets the function report without a permission: it has its headers from a secret', () => {
    const { Resources } = templateIn(join(folder, 'cdk.out'));
    const policies = Object.entries(Resources).filter(
      ([id, { Type }]) => id.startsWith('Agent') && Type.startsWith('AWS::IAM::'),
    );
    expect(policies.map(([, { Type, Properties }]) => [Type, Properties.Policies])).toEqual([
      ['AWS::IAM::Role', undefined],
    ]);
    const [, agent] = Object.entries(Resources).find(([id]) => /^Agent\w{8}$/.test(id)) ?? [];
    expect(JSON.stringify(agent?.Properties.Environment)).toContain('{{resolve:secretsmanager:');
  });

  it('leaves the installed package as it was', () => {
    const manifest = join(installed, 'dist/bundles/openapi/index.cjs');
    expect(readFileSync(manifest, 'utf8')).toContain('"OPENAPI_DOCUMENT"');
    expect(existsSync(join(dirname(installed), '.cache'))).toBe(false);
  });
});
