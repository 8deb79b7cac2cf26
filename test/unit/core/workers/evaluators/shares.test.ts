import { expect, it } from 'vitest';
import { Shares } from '../../../../../core/workers/evaluators/shares.ts';
import { type ProjectId, parseProjectId } from '../../../../../foundations/wire/index.ts';

const project = (text: string): ProjectId => parseProjectId(text) ?? expect.fail(text);
const busy = project('acme/busy');
const quiet = project('acme/quiet');

it('a project that asks for more verdicts than its share leaves the rest, and tells of it', () => {
  const shares = new Shares({ ms: Number.POSITIVE_INFINITY, verdicts: 4 });
  const decided = Array.from({ length: 5 }, () => shares.decide(busy, () => ['a', 'b'])).flat();
  expect(decided).toHaveLength(4);
  expect(shares.decide(quiet, () => ['a'])).toEqual(['a']);
  expect(shares.letters()).toEqual([
    {
      reason: expect.stringMatching(/acme\/busy .* so 3 of its calls were not judged$/),
      record: { project_id: busy },
    },
  ]);
});

it('a project whose evaluators take longer than its share leaves the rest, and others have theirs', () => {
  const shares = new Shares({ ms: 20, verdicts: 100 });
  const slow = () => {
    const until = performance.now() + 15;
    while (performance.now() < until);
    return ['a'];
  };
  const sampled = Array.from({ length: 9 }, () => shares.sample(busy, slow)).flat();
  // A machine that is busy with others may take longer for the first ones.
  expect(sampled.length).toBeLessThanOrEqual(2);
  expect(shares.sample(quiet, () => ['a'])).toEqual(['a']);
  expect(shares.letters()).toMatchObject([{ record: { project_id: busy } }]);
});

it('projects within their shares have no letters', () => {
  const shares = new Shares();
  expect(shares.sample(busy, () => ['a'])).toEqual(['a']);
  expect(shares.decide(busy, () => ['a'])).toEqual(['a']);
  expect(shares.letters()).toEqual([]);
});
