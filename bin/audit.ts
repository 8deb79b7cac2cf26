/**
 * `npm run audit`: asks the registry for advisories and signatures of the dependencies. See
 * docs/dependencies.md.
 */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { root, runPlain } from './common.ts';

/** The result of an audit: whether the change may pass, and lines for people. */
interface Verdict {
  readonly passes: boolean;
  readonly lines: readonly string[];
}

const advisory = z.object({ title: z.string(), url: z.string().default('') });

/** The answer of `npm audit --json`. */
const advisories = z.object({
  vulnerabilities: z.record(
    z.string(),
    z.object({
      severity: z.string(),
      /** Where it is, as the lockfile has it. */
      nodes: z.array(z.string()),
      via: z.array(z.union([z.string(), advisory])),
      // True if the parent's range allows a fixed version, or the parent's version that does.
      fixAvailable: z.union([z.boolean(), z.object({ name: z.string(), version: z.string() })]),
    }),
  ),
});

/** The answer of `npm audit signatures --json`. */
const signatures = z.object({
  invalid: z.array(z.object({ name: z.string(), version: z.string() })),
  missing: z.array(z.object({ name: z.string(), version: z.string() })),
});

const severe = new Set(['high', 'critical']);

/** Parses npm's output; undefined if it is not an answer, such as a network error. */
const parseOutput = <T>(schema: z.ZodType<T>, output: string): T | undefined => {
  try {
    return schema.parse(JSON.parse(output));
  } catch {
    return undefined;
  }
};

const noAnswer = (what: string): Verdict => ({
  passes: true,
  lines: [`${what} were not checked: the registry did not answer. The change passes without them.`],
});

const lockfile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      dependencies: z.record(z.string(), z.string()).default({}),
      optionalDependencies: z.record(z.string(), z.string()).default({}),
    }),
  ),
});

/**
 * Where the lockfile has what the project's own dependencies bring. To npm, what workspaces depend on is
 * no less needed, though they are for tests and local use.
 */
export const deployedIn = (text: string): ReadonlySet<string> => {
  const { packages } = lockfile.parse(JSON.parse(text));
  /** A package is the nearest one above whoever needs it. */
  const find = (from: string, name: string): string | undefined => {
    const path = join(from, 'node_modules', name);
    if (path in packages) return path;
    const above = from.lastIndexOf('/node_modules/');
    return from === '' ? undefined : find(above < 0 ? '' : from.slice(0, above), name);
  };
  const found = new Set(['']);
  for (const path of found)
    for (const name of Object.keys({
      ...packages[path]?.dependencies,
      ...packages[path]?.optionalDependencies,
    })) {
      const dependency = find(path, name);
      if (dependency !== undefined) found.add(dependency);
    }
  found.delete('');
  return found;
};

/**
 * Judges the output of `npm audit --omit=dev --omit=peer --json`. A severe advisory on what is deployed
 * fails if a fixed version exists. Other advisories are only listed.
 *
 * @param deployed what is deployed, by its place in the lockfile
 */
export const judgeAdvisories = (output: string, deployed: ReadonlySet<string>): Verdict => {
  const answer = parseOutput(advisories, output);
  if (!answer) return noAnswer('Advisories');
  const found = Object.entries(answer.vulnerabilities).map(
    ([name, { severity, nodes, via, fixAvailable }]) => {
      const titles = via.map((cause) =>
        typeof cause === 'string' ? `through ${cause}` : `${cause.title} ${cause.url}`,
      );
      const fixable = fixAvailable !== false;
      const line = `${name}: ${severity}, ${fixable ? 'fixed in a later version' : 'not fixed yet'}: ${titles.join('; ')}`;
      const isDeployed = nodes.some((path) => deployed.has(path));
      return { fails: severe.has(severity) && fixable && isDeployed, line };
    },
  );
  if (found.length === 0) return { passes: true, lines: ['There is no advisory.'] };
  return { passes: !found.some(({ fails }) => fails), lines: found.map(({ line }) => line) };
};

/** Judges the output of `npm audit signatures --json`. A package with a wrong signature fails. */
export const judgeSignatures = (output: string): Verdict => {
  const answer = parseOutput(signatures, output);
  if (!answer) return noAnswer('Signatures');
  const { invalid, missing } = answer;
  return {
    passes: invalid.length === 0,
    lines: [
      ...invalid.map(({ name, version }) => `${name}@${version} differs from what the registry signed`),
      `${missing.length} packages without a signature, ${invalid.length} with a wrong one.`,
    ],
  };
};

/** The longest that a registry without an answer may hold up a change, in ms. */
const timeoutMs = 120_000;

/** The JSON that npm prints. Its exit status says nothing more. */
const npm = (...args: string[]): string =>
  spawnSync('npm', [...args, '--json', '--fetch-retries=1', '--fetch-timeout=30000'], {
    encoding: 'utf8',
    timeout: timeoutMs,
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
  }).stdout ?? '';

const audit = (): void => {
  const deployed = deployedIn(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const verdicts: readonly Verdict[] = [
    judgeAdvisories(npm('audit', '--omit=dev', '--omit=peer'), deployed),
    judgeSignatures(npm('audit', 'signatures')),
  ];
  for (const line of verdicts.flatMap(({ lines }) => lines)) console.log(`audit: ${line}`);
  process.exitCode = verdicts.every(({ passes }) => passes) ? 0 : 1;
};

if (import.meta.main)
  await runPlain('audit', 'Ask the registry for advisories and signatures: npm run audit', audit);
