import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CompilePattern, needsKey, Redactor, type Rule } from '../../foundations/redaction/index.ts';

/*
 * What functions load to redact what they store. It is no handler: where there is the setting, it lies
 * beside the bundles of those functions, with the rules in `rules.json`.
 */

/** RE2's engine is loaded if there are patterns. */
const patterns = async (): Promise<CompilePattern> => {
  const { RE2JS } = await import('re2js');
  return (pattern) => {
    const compiled = RE2JS.compile(pattern);
    return function* (text) {
      const matcher = compiled.matcher(text);
      while (matcher.find()) yield [matcher.start(), matcher.end()];
    };
  };
};

/**
 * Makes the redactor of the deployment.
 *
 * @param key the key of hashes, if the rules need one
 * @throws Error if the rules cannot be read, or the key is missing
 */
export const makeRedactor = async (key: string | undefined): Promise<Redactor> => {
  const rules = JSON.parse(readFileSync(join(__dirname, 'rules.json'), 'utf8')) as readonly Rule[];
  if (needsKey(rules) && !key) throw new Error('the key of redaction is missing');
  const hasPatterns = rules.some(({ pattern }) => pattern !== undefined);
  return new Redactor(rules, key, hasPatterns ? await patterns() : undefined);
};
