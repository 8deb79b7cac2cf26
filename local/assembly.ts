import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type Dirent, existsSync, readFileSync } from 'node:fs';
import { cp, link, mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { isPackaged, workFolder } from '../lib/packaged.ts';

const root = resolve(import.meta.dirname, '..');

/** The app that makes the stack, by its path there. */
const ownApp = isPackaged ? 'cli/app.js' : 'bin/pennytrace.ts';

/** The stack does not synthesize. The message is what the app printed. */
export class SynthesisFailed extends Error {
  override readonly name = 'SynthesisFailed';
}

/**
 * The CDK context that the stack is synthesized with.
 *
 * @param settings override the context of cdk.json
 */
const contextWith = (settings: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => {
  const file = join(workFolder, 'cdk.json');
  // Whoever uses the package has one only for settings.
  if (isPackaged && !existsSync(file)) return { ...settings };
  const { context } = JSON.parse(readFileSync(file, 'utf8')) as { context?: object };
  return { ...context, ...settings };
};

/** Ends the app's process group, with the esbuild processes in it. */
const kill = ({ pid, exitCode, signalCode }: ChildProcess): void => {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
};

interface SynthesisOptions {
  /** Override the context of cdk.json. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  /** Cancels the synthesis. */
  readonly signal?: AbortSignal | undefined;
  /** The app, by its path in the project. @default - that of cdk.json */
  readonly program?: string | undefined;
  /** Whether to check CloudFormation's rules, as before a deployment: that takes as long again. @default false */
  readonly validates?: boolean;
}

/**
 * Synthesizes the stack without the CDK CLI: no account and no network are needed.
 *
 * @param outdir the folder for template and bundles
 * @throws SynthesisFailed with what the app printed; the signal's reason
 */
export const synthesize = async (
  outdir: string,
  { settings, signal, program = ownApp, validates = false }: SynthesisOptions = {},
): Promise<void> => {
  signal?.throwIfAborted();
  const app = spawn(process.execPath, [join(root, program)], {
    cwd: root,
    env: {
      ...process.env,
      CDK_OUTDIR: outdir,
      CDK_CONTEXT_JSON: JSON.stringify(contextWith(settings)),
      ...(!validates && { CDK_VALIDATION: 'false' }),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
    // In a process group of its own, Ctrl-C in the terminal reaches only this process, which then
    // ends things in order.
    detached: true,
  });
  const end = () => kill(app);
  signal?.addEventListener('abort', end);
  process.on('exit', end);
  try {
    const [printed, [code]] = await Promise.all([text(app.stderr), once(app, 'close')]);
    signal?.throwIfAborted();
    if (code !== 0) throw new SynthesisFailed(`the stack does not synthesize:\n${printed.trim()}`);
  } finally {
    signal?.removeEventListener('abort', end);
    process.off('exit', end);
  }
};

/** Where stacks are kept. Tools keep what they can make again in this folder by convention. */
const defaultFolder = join(root, 'node_modules/.cache/pennytrace/assemblies');

/** How many stacks are kept: those used last. One takes some 100 MB. */
const maxKept = 8;

/** All that a synthesized stack is made from, besides the version of Node and the settings. */
export const sources = [
  'api',
  'bin/pennytrace.ts',
  'cdk.json',
  'core',
  'foundations',
  'lambdas',
  'lib',
  'package-lock.json',
  'package.json',
  'tsconfig.json',
  'web',
] as const;

/** The paths of all files below a path, which may be a file itself, in a fixed order. */
const filesBelow = async (path: string): Promise<string[]> => {
  if ((await stat(path)).isFile()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
};

/** A digest of the sources, another app if there is one, and the settings: hex digits. */
const hashSources = async (
  settings: Readonly<Record<string, unknown>>,
  program?: string,
): Promise<string> => {
  const below = [...sources, ...(program ? [program] : [])].map((source) => filesBelow(join(root, source)));
  const files = (await Promise.all(below)).flat();
  const contents = await Promise.all(files.map((file) => readFile(file)));
  const hash = createHash('sha256').update(`${process.version} ${JSON.stringify(contextWith(settings))}`);
  for (const [index, file] of files.entries()) {
    const content = contents[index] ?? Buffer.alloc(0);
    hash.update(`\n${file.slice(root.length)} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
};

/** Makes a folder of links to all files of another, which are never written again. */
const linkAll = async (from: string, to: string): Promise<void> => {
  await mkdir(to, { recursive: true });
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  const toTarget = ({ parentPath, name }: Dirent): string => join(to, relative(from, join(parentPath, name)));
  const { folders = [], files = [] } = Object.groupBy(entries, (entry) =>
    entry.isDirectory() ? 'folders' : 'files',
  );
  await Promise.all(folders.map((folder) => mkdir(toTarget(folder), { recursive: true })));
  await Promise.all(files.map((file) => link(join(file.parentPath, file.name), toTarget(file))));
};

/** Fills a folder with what is in another, without copies where the file system has links. */
const share = async (from: string, to: string): Promise<void> => {
  try {
    await linkAll(from, to);
  } catch {
    // The two are on different file systems, or theirs has no links.
    await rm(to, { recursive: true, force: true });
    await cp(from, to, { recursive: true });
  }
};

/** Shares a kept stack. Returns false if there is none, or if it was removed meanwhile. */
const takeKept = async (kept: string, outdir: string): Promise<boolean> => {
  try {
    const now = new Date();
    await utimes(kept, now, now);
  } catch {
    return false;
  }
  try {
    await share(kept, outdir);
    return true;
  } catch {
    await rm(outdir, { recursive: true, force: true });
    await mkdir(outdir);
    return false;
  }
};

/** Removes the stacks that were not used for longest. */
const prune = async (folder: string): Promise<void> => {
  const names = await readdir(folder);
  const used = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(folder, name))).mtimeMs })),
  );
  const old = used.sort((one, other) => other.at - one.at).slice(maxKept);
  await Promise.all(old.map(({ name }) => rm(join(folder, name), { recursive: true, force: true })));
};

/** Keeps a stack. Whoever looks finds all of it or nothing. */
const keep = async (outdir: string, folder: string, digest: string): Promise<void> => {
  const unfinished = join(folder, `${digest}.${process.pid}.${performance.now()}`);
  try {
    await mkdir(folder, { recursive: true });
    await share(outdir, unfinished);
    await rename(unfinished, join(folder, digest));
    await prune(folder);
  } catch {
    // A read-only folder, a full disk, or another process that was first: the next start is slower,
    // and nothing else.
    await rm(unfinished, { recursive: true, force: true }).catch(() => {});
  }
};

interface KeepOptions {
  /** @default - below node_modules/.cache */
  readonly folder?: string;
  /** @default - the stack is synthesized */
  readonly make?: typeof synthesize;
  /**
   * Another app that makes the same stack with something beside it, by its path in the project.
   * What it makes is kept for starts of the usual app, too. @default - that of cdk.json
   */
  readonly program?: string;
}

/**
 * Synthesizes the stack, or takes the one that was synthesized from the same sources and settings
 * by the same Node.
 *
 * @param outdir the folder for template and bundles
 * @param settings override the context of cdk.json
 * @param signal cancels the synthesis
 * @throws SynthesisFailed with what the app printed; the signal's reason
 */
export const assemble = async (
  outdir: string,
  settings: Readonly<Record<string, unknown>> = {},
  signal?: AbortSignal,
  { folder = defaultFolder, make = synthesize, program }: KeepOptions = {},
): Promise<void> => {
  signal?.throwIfAborted();
  // The package has its bundles made.
  if (isPackaged) return make(outdir, { settings, signal });
  const digest = await hashSources(settings, program);
  if (await takeKept(join(folder, digest), outdir)) return;
  await make(outdir, { settings, signal, program });
  const digests = [digest, ...(program ? [await hashSources(settings)] : [])];
  await Promise.all(digests.map((digest) => keep(outdir, folder, digest)));
};
