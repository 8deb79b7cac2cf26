import { z } from 'zod';

/** What an audit comes to: whether a change may pass, and what there is to say. */
export interface Verdict {
  readonly passes: boolean;
  readonly lines: readonly string[];
}

const advisory = z.object({ title: z.string(), url: z.string().default('') });

/** What `npm audit --json` writes where it got an answer. */
const advisories = z.object({
  vulnerabilities: z.record(
    z.string(),
    z.object({
      severity: z.string(),
      via: z.array(z.union([z.string(), advisory])),
      // True where the range of the parent allows a mended version, or the version of the parent
      // that does.
      fixAvailable: z.union([z.boolean(), z.object({ name: z.string(), version: z.string() })]),
    }),
  ),
});

/** What `npm audit signatures --json` writes where it got an answer. */
const signatures = z.object({
  invalid: z.array(z.object({ name: z.string(), version: z.string() })),
  missing: z.array(z.object({ name: z.string(), version: z.string() })),
});

const grave = new Set(['high', 'critical']);

/** Parses what npm wrote; undefined where it is no answer, such as an error of the network. */
const answerOf = <T>(schema: z.ZodType<T>, output: string): T | undefined => {
  try {
    return schema.parse(JSON.parse(output));
  } catch {
    return undefined;
  }
};

const unanswered = (what: string): Verdict => ({
  passes: true,
  lines: [`${what} were not looked up: the registry did not answer. This is no failure of the change.`],
});

/**
 * Judges what `npm audit --omit=dev --json` wrote: a grave advisory on what is deployed fails where
 * there is a version without it. One that nobody can mend yet, or that is not grave, is told.
 */
export const judgeAdvisories = (output: string): Verdict => {
  const answer = answerOf(advisories, output);
  if (!answer) return unanswered('Advisories');
  const found = Object.entries(answer.vulnerabilities).map(([name, { severity, via, fixAvailable }]) => {
    const titles = via.map((cause) =>
      typeof cause === 'string' ? `through ${cause}` : `${cause.title} ${cause.url}`,
    );
    const mendable = fixAvailable !== false;
    const line = `${name}: ${severity}, ${mendable ? 'mended in a later version' : 'not mended yet'}: ${titles.join('; ')}`;
    return { fails: grave.has(severity) && mendable, line };
  });
  if (found.length === 0) return { passes: true, lines: ['No advisory is about what is deployed.'] };
  return { passes: !found.some(({ fails }) => fails), lines: found.map(({ line }) => line) };
};

/**
 * Judges what `npm audit signatures --json` wrote: a package that is not what the registry signed
 * fails.
 */
export const judgeSignatures = (output: string): Verdict => {
  const answer = answerOf(signatures, output);
  if (!answer) return unanswered('Signatures');
  const { invalid, missing } = answer;
  return {
    passes: invalid.length === 0,
    lines: [
      ...invalid.map(({ name, version }) => `${name}@${version} is not what the registry signed`),
      `${missing.length} packages without a signature, ${invalid.length} with a wrong one.`,
    ],
  };
};
