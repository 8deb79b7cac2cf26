import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeBundles } from '../../../bin/package.ts';
import { everyHandler } from '../../../lib/features.ts';
import { pageHandler } from '../../../lib/page.ts';
import { root, temporaryFolder } from '../../support/run/project.ts';
import { deep, sample } from '../../support/run/sampling.ts';
import { assembly, assemblyWith, bundlesFolder } from '../../support/stack/assembly.ts';
import type { Resource } from '../../support/stack/template.ts';

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
const other: PennytraceProps = { keepFeedback: true, keepData: false };
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

/** It takes 8 s on two quiet cores, and much longer beside other work; a deep run takes twice as long. */
const packingMs = 300_000;

const compilerOptions = {
  module: 'nodenext',
  target: 'es2024',
  strict: true,
  noEmit: true,
  skipLibCheck: true,
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
const getCodeKeys = ({ Resources }: Template): Map<string, string> =>
  new Map(
    Object.entries(Resources)
      .filter(([, { Type }]) => Type === 'AWS::Lambda::Function')
      .map(([id, { Properties }]) => [id.slice(0, -8), Properties.Code as { S3Key?: string }] as const)
      .flatMap(([id, { S3Key }]) => (S3Key === undefined ? [] : [[id, S3Key]])),
  );

/** All files below a folder, by their paths there. */
const filesIn = (folder: string): Map<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [relative(folder, path), readFileSync(path, 'latin1')]),
  );

/**
 * A folder that npm can pack as it packs the project's, without touching that: what is packed is
 * copied, and what packs is linked.
 *
 * @param bundles those that are packed. @default - they are made
 */
const makeCheckout = (folder: string, bundles?: string): void => {
  mkdirSync(join(folder, 'docs'), { recursive: true });
  const documents = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  const files = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md'];
  for (const name of [...files, ...documents.map((document) => `docs/${document}`)])
    copyFileSync(join(root, name), join(folder, name));
  cpSync(join(root, 'docs/events'), join(folder, 'docs/events'), { recursive: true });
  symlinkSync(join(root, 'bin'), join(folder, 'bin'));
  if (bundles === undefined) return;
  const manifest = join(folder, 'package.json');
  const text = readFileSync(manifest, 'utf8');
  writeFileSync(manifest, text.replace(/"prepack": "[^"]+/, `$& --bundles ${bundles}`));
};

/**
 * A package that is installed here, as a folder that npm can install without a registry: its
 * dependencies are found where its files are.
 */
const standIn = (name: string, folder: string): void => {
  const installed = join(root, 'node_modules', name);
  const { version, type, main, types, exports, peerDependencies } = JSON.parse(
    readFileSync(join(installed, 'package.json'), 'utf8'),
  );
  mkdirSync(folder, { recursive: true });
  for (const entry of readdirSync(installed))
    if (entry !== 'package.json' && entry !== 'node_modules')
      symlinkSync(join(installed, entry), join(folder, entry));
  const manifest = { name, version, type, main, types, exports, peerDependencies };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
};

describe('the package that npm packs', () => {
  const folder = temporaryFolder();
  const checkout = join(folder, 'checkout');
  const app = join(folder, 'app');
  const installed = join(app, 'node_modules/pennytrace');
  const peers = ['aws-cdk-lib', 'constructs'];
  let packed: string[];
  let packedBytes: number;
  let manifestBefore: string;

  /** Runs npm with Node 24, a cache of its own, and no registry. */
  const npm = (args: readonly string[], cwd: string) =>
    run('npm', [...args, '--offline', '--no-audit', '--no-fund', '--cache', join(folder, 'cache')], {
      cwd,
      env: { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}` },
    });

  /** Packs the project, and installs it in an empty app that has CDK. */
  beforeAll(async () => {
    makeCheckout(checkout, deep ? undefined : bundlesFolder());
    manifestBefore = readFileSync(join(checkout, 'package.json'), 'utf8');
    const { stdout } = await npm(['pack', '--json', '--pack-destination', folder], checkout);
    const [{ filename, files, size }] = JSON.parse(stdout.slice(stdout.indexOf('[')));
    packedBytes = size;
    packed = files.map(({ path }: { path: string }) => path);
    mkdirSync(app);
    for (const name of peers) standIn(name, join(folder, 'peers', name));
    const dependencies = Object.fromEntries(peers.map((name) => [name, `file:../peers/${name}`]));
    writeFileSync(join(app, 'package.json'), JSON.stringify({ type: 'module', dependencies }));
    await npm(['install', join(folder, filename)], app);
    writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.ts'] }));
    writeFileSync(join(app, 'app.ts'), source);
    // CloudFormation's rules are checked in the rehearsal: here they would take half the time.
    await run(process.execPath, ['app.ts'], { cwd: app, env: { ...process.env, CDK_VALIDATION: 'false' } });
  }, packingMs);

  it('brings no other package, and runs no script', () => {
    const lock = JSON.parse(readFileSync(join(app, 'package-lock.json'), 'utf8'));
    const others = Object.keys(lock.packages).filter((path) => path.startsWith('node_modules/'));
    expect(others).toEqual([...peers, 'pennytrace'].map((name) => `node_modules/${name}`));
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    const { dependencies, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({ name: 'pennytrace', version, bundled: dependencies });
    expect(Object.keys(manifest).filter((name) => /^(?:dep|devDep|scripts)/.test(name))).toEqual([]);
  });

  it('leaves the manifest of the project as it was', () => {
    expect(readFileSync(join(checkout, 'package.json'), 'utf8')).toBe(manifestBefore);
  });

  it('has the construct, the bundles and the documents, and no source', () => {
    expect([...new Set(packed.map((path) => path.split('/')[0]))].toSorted()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist',
      'docs',
      'package.json',
    ]);
    expect(packed.filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))).toEqual([]);
  });

  it('is small: what bundles have in common is in it once', () => {
    expect(packedBytes).toBeLessThan(10_000_000);
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
    await expect(
      run(join(root, 'node_modules/.bin/tsc'), ['--singleThreaded'], { cwd: app }),
    ).resolves.toMatchObject({
      stdout: '',
    });
  });

  it('is loaded by an app that is CommonJS, too', async () => {
    const script = "console.log(typeof require('pennytrace').Pennytrace)";
    const { stdout } = await run(process.execPath, ['--eval', script], { cwd: app });
    expect(stdout).toBe('function\n');
  });

  it('synthesizes two services in one stack, with the bundles that it brings', () => {
    const out = join(app, 'cdk.out');
    const code = getCodeKeys(templateIn(out));
    const own = [...getCodeKeys(templateIn(assembly())).keys()];
    expect([...code.keys()].filter((id) => /^(?:One|Two)/.test(id))).toEqual(
      expect.arrayContaining(own.flatMap((id) => [`One${id}`, `Two${id}`])),
    );
    const brought = everyHandler.map((handler) =>
      readFileSync(join(out, 'bundles', handler, 'index.cjs'), 'latin1'),
    );
    const deployed = (service: string) =>
      [...code]
        .filter(([id]) => id.startsWith(service))
        .map(([, key]) => readFileSync(join(out, `asset.${key.replace('.zip', '')}`, 'index.cjs'), 'latin1'));
    for (const service of ['One', 'Two']) expect(brought).toEqual(expect.arrayContaining(deployed(service)));
  });

  it('gives no role of its own a wildcard', () => {
    const { Resources } = templateIn(join(app, 'cdk.out'));
    const statements = Object.values(Resources)
      .filter(({ Type }) => Type === 'AWS::IAM::Role')
      .flatMap(({ Properties }) => (Properties.Policies ?? []) as Policy[])
      .flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
    expect(statements.length).toBeGreaterThan(100);
    expect(statements.filter(({ Action }) => [Action].flat().some((name) => name.includes('*')))).toEqual([]);
    const everywhere = statements.filter(({ Resource }) => [Resource].flat().includes('*'));
    expect(everywhere).toEqual([]);
  });

  it('lets the function report without a permission: it has its headers from a secret', () => {
    const { Resources } = templateIn(join(app, 'cdk.out'));
    const policies = Object.entries(Resources).filter(
      ([id, { Type }]) => id.startsWith('Agent') && Type.startsWith('AWS::IAM::'),
    );
    expect(policies.map(([, { Type, Properties }]) => [Type, Properties.Policies])).toEqual([
      ['AWS::IAM::Role', undefined],
    ]);
    const [, agent] = Object.entries(Resources).find(([id]) => /^Agent\w{8}$/.test(id)) ?? [];
    expect(JSON.stringify(agent?.Properties.Environment)).toContain('{{resolve:secretsmanager:');
  });

  describe('without a checkout', () => {
    /** Runs a command of the package in a folder, as `npx pennytrace` does. */
    const pennytrace = (args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}) =>
      run(process.execPath, [join(app, 'node_modules/.bin/pennytrace'), ...args], {
        cwd,
        env: { ...process.env, ...env },
      });
    const operator = join(folder, 'operator');

    beforeAll(() => {
      mkdirSync(operator);
      writeFileSync(join(operator, 'cdk.json'), JSON.stringify({ context: { retentionDays: 90 } }));
    });

    it('synthesizes the stack of a checkout, with settings of the folder and of the command', async () => {
      const { stdout } = await pennytrace(['synth', '-c', 'logRetentionDays=90'], operator);
      const out = stdout.trim();
      expect(out.endsWith('operator/cdk.out')).toBe(true);
      const own = await assemblyWith({ retentionDays: 90, logRetentionDays: 90 });
      const [ours, theirs] = [own, out].map((each) => templateIn(each));
      expect(theirs).toEqual(ours);
    });

    it('says what to write instead of a setting that is wrong', async () => {
      await expect(pennytrace(['synth', '-c', 'retentionDays=never'], operator)).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringContaining('setting retentionDays is "never"'),
      });
      await expect(pennytrace(['frobnicate'], operator)).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringContaining('write one of start, synth'),
      });
    });

    it('gives the CDK CLI its app', async () => {
      const bin = join(operator, 'node_modules/aws-cdk/bin');
      mkdirSync(bin, { recursive: true });
      writeFileSync(join(bin, '../package.json'), '{"name": "aws-cdk"}');
      writeFileSync(join(bin, 'cdk'), 'console.log(JSON.stringify(process.argv.slice(2)))');
      const { stdout } = await pennytrace(['deploy', '--require-approval', 'never'], operator);
      const [command, option, program, ...others] = JSON.parse(stdout);
      expect([command, option, ...others]).toEqual(['deploy', '--app', '--require-approval', 'never']);
      const { stdout: printed } = await run('/bin/sh', ['-c', program], {
        cwd: operator,
        env: {
          ...process.env,
          CDK_OUTDIR: join(operator, 'by-cli'),
          CDK_CONTEXT_JSON: '{}',
          CDK_VALIDATION: 'false',
        },
      });
      expect(printed).toBe('');
      expect(readdirSync(join(operator, 'by-cli'))).toContain('Pennytrace.template.json');
    });

    it('writes a template without CDK, with the code of each function beside it', async () => {
      const { stdout } = await pennytrace(['template'], operator);
      const file = stdout.trim();
      const template = JSON.parse(readFileSync(file, 'utf8'));
      const text = JSON.stringify(template);
      expect(text).not.toMatch(/cdk-hnb659fds|BootstrapVersion|aws:cdk|aws:asset/);
      const codes = (Object.values(template.Resources) as Resource[])
        .filter(({ Type }) => Type === 'AWS::Lambda::Function')
        .map(({ Properties }) => Properties.Code as string);
      expect(codes.length).toBeGreaterThan(40);
      for (const code of codes) expect(readdirSync(join(dirname(file), code))).toContain('index.cjs');
      // What CloudFormation takes from a bucket.
      expect(text.length).toBeLessThan(1_000_000);
      await expect(pennytrace(['template'], operator)).rejects.toMatchObject({ code: 2 });
    });

    it('starts the service, reports to it, reads the page and makes a key', async () => {
      const service = spawn(process.execPath, [join(app, 'node_modules/.bin/pennytrace'), 'start'], {
        cwd: operator,
        env: { ...process.env, PORT: '0', DEMO: '1' },
      });
      try {
        let printed = '';
        service.stdout.on('data', (data) => {
          printed += data;
        });
        // What it says is said again once the examples are done.
        await expect.poll(() => printed.match(/^open /gm)?.length).toBe(2);
        const [, url = ''] = /^ready (\S+)$/m.exec(printed) ?? [];
        const [, key = ''] = /^key [^\n]*(svc_\S+)$/m.exec(printed) ?? [];
        const headers = {
          authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
          'content-type': 'application/json',
        };
        const body = JSON.stringify({ project_id: 'demo/shop', limit: 1 });
        const calls = await fetch(`${url}/calls/stream_query`, { method: 'POST', headers, body });
        expect(await calls.text()).toContain('"project_id":"demo/shop"');
        const page = await (await fetch(`${url}/ui/`)).text();
        const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(page) ?? [];
        expect((await fetch(`${url}/ui/${script}`)).status).toBe(200);
        expect(printed).toContain('An agent that is traced with OpenTelemetry');
        expect(printed).not.toContain('npm start');
        const { port } = new URL(url);
        const made = await pennytrace(
          ['keys', 'create', `--local=${port}`, '--user', 'ada', '--grant', 'acme/*:write'],
          operator,
        );
        expect(made.stdout).toMatch(/^svc_/);
      } finally {
        const ended = once(service, 'close');
        service.kill('SIGTERM');
        await ended;
      }
    });
  });

  it('leaves the installed package as it was', () => {
    expect(existsSync(join(dirname(installed), '.cache'))).toBe(false);
  });
});

describe('the bundles that it brings', () => {
  const folder = temporaryFolder();
  // Those that differ by more than their code, and some others.
  const handlers = [...new Set(['openapi', pageHandler, ...sample(everyHandler, 3, 'package')])];
  beforeAll(() => makeBundles(root, folder, handlers));

  it.each(handlers)('are those of the project’s own app: %s', (handler) => {
    const [brought, own] = [folder, bundlesFolder()].map((place) => filesIn(join(place, handler)));
    const wanted = [...(own ?? [])].filter(([path, text]) => brought?.get(path) !== text);
    expect(wanted.map(([path]) => path)).toEqual([]);
    expect(brought?.size).toBe(own?.size);
  });
});
