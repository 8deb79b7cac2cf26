import fc from 'fast-check';
import { describe, it } from 'vitest';
import type { Said } from '../../support/documents/document.ts';
import { paced } from '../../support/run/pace.ts';
import { inTurns, repeatWith, runs, sample, seed } from '../../support/run/sampling.ts';
import type { TestService } from '../../support/service/service.ts';
import { anyCharacter } from '../../support/values/arbitraries/character.ts';
import { toArbitrary } from '../../support/values/arbitrary.ts';
import { mutated } from '../../support/values/mutated.ts';
import { corpus } from './corpus.ts';
import { brokenHeaders, checker, credentials, isWell, sendTo, spoilt, withCanary } from './probe.ts';

/** How much is tried with each operation. */
interface FuzzOptions {
  /** Bodies that are made up. @default - 4, and 50 in a deep run */
  readonly bodies?: number;
  /**
   * How many of the corpus, and of the headers, in a run that is not deep. @default - one of nine by
   * turns, so that every ninth operation has each of them
   */
  readonly most?: number;
}

/** Texts for the parameters of a path, as they stand in a URL. */
const arbitraryPaths = ({ operationAt, document }: Said, path: string): fc.Arbitrary<string> => {
  const named = (operationAt(path).parameters ?? []).filter((parameter) => parameter.in === 'path');
  const values = fc.record(
    Object.fromEntries(
      named.map(({ name, schema }) => [
        name,
        fc.oneof(toArbitrary(schema, document), fc.string({ unit: anyCharacter, minLength: 1 })),
      ]),
    ),
  );
  return values.map((values) =>
    path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const text = String((values as Record<string, unknown>)[name]).toWellFormed();
      // A segment of dots is a path to the parent, and never reaches the service.
      return /^\.{0,2}$/.test(text) ? 'x' : encodeURIComponent(text);
    }),
  );
};

/**
 * Sends operations bodies that they should not have, and looks whether each is answered as the
 * document says. No answer may be a failure of the service, or have no end.
 */
export const describeFuzz = (
  service: () => TestService,
  said: Said,
  paths: readonly string[],
  { bodies: bodiesEach = runs(4, 50), most = Number.POSITIVE_INFINITY }: FuzzOptions = {},
): void => {
  const taking = paths.flatMap((path) => {
    const schema = said.requestSchema(path);
    return schema ? [{ path, schema }] : [];
  });

  describe.each(taking)('$path', ({ path, schema }) => {
    const valid = toArbitrary(schema, said.document).map(withCanary);
    const text = (value: unknown): string => JSON.stringify(value);
    const bodies = fc.oneof(valid.map(text), mutated(valid).map(text), spoilt(valid.map(text)));
    const requests = fc.sample(fc.tuple(arbitraryPaths(said, path), bodies), { numRuns: bodiesEach, seed });
    const [at = path] = requests[0] ?? [];
    const method = said.methodAt(path);
    const nth = taking.findIndex((other) => other.path === path);
    const headers = () => ({ authorization: credentials(service(), path) });

    it('answers any request as documented', { timeout: paced(180_000 + bodiesEach * 1000) }, async () => {
      const check = checker(said, service());
      for (const [asked, body] of requests) {
        const answer = await sendTo(service().url, { path: asked, method, body, headers: headers() });
        check(path, answer, `${repeatWith}, ${asked}, body ${body.toString()}`);
      }
      await isWell(service());
    });

    it('answers requests that broke other parsers', { timeout: paced(300_000) }, async () => {
      const check = checker(said, service());
      for (const [name, body] of sample(inTurns(corpus, nth, 9), most, path))
        check(path, await sendTo(service().url, { path: at, method, body, headers: headers() }), name);
      await isWell(service());
    });

    it('answers nonsensical headers', async () => {
      const check = checker(said, service());
      for (const broken of sample(inTurns(brokenHeaders, nth, 9), most, path)) {
        const sent = { path: at, method, body: '{}', headers: { ...headers(), ...broken } };
        check(path, await sendTo(service().url, sent), JSON.stringify(broken));
      }
      await isWell(service());
    });
  });
};
