import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { root } from '../../support/run/project.ts';
import { requires } from '../../support/run/requirements.ts';
import { sharedService } from '../../support/service/service.ts';

interface Told {
  readonly id: string;
  readonly parent_id: string | null;
  readonly trace_id: string;
  readonly op_name: string;
  readonly inputs: Record<string, unknown>;
  readonly output: unknown;
  readonly exception: string | null;
  readonly summary: { readonly usage?: object };
}

const getName = ({ op_name }: Told): string | undefined => /op\/(.*):v1$/.exec(op_name)?.[1];

describe.each([
  ['Node', process.execPath, 'clients/js/evaluate.ts', {}],
  ['Python', 'python3', 'clients/python/evaluate.py', requires('Python 3')],
] as const)('the evaluation in %s', (language, command, script, options) => {
  const project_id = `acme/evaluate-${language.toLowerCase()}`;

  /** Runs the example, and tells with what it exited and what it said. */
  const evaluate = async (...args: string[]) => {
    const { url, key } = await sharedService();
    const env = { ...process.env, PENNYTRACE_URL: url, PENNYTRACE_KEY: key, PENNYTRACE_PROJECT: project_id };
    const run = spawn(command, [script, ...args], { cwd: root, env });
    const exited = new Promise<number | null>((resolve) => run.once('exit', resolve));
    const [code, out, error] = await Promise.all([exited, text(run.stdout), text(run.stderr)]);
    return { code, out, error, id: /^Evaluation (\S+)/m.exec(out)?.[1] ?? '' };
  };

  const query = async (filter: object): Promise<Told[]> => {
    const { post } = await sharedService();
    const headers = { accept: 'application/json' };
    return (await post('/calls/stream_query', { project_id, filter }, { headers })).json() as Promise<Told[]>;
  };

  const itIfThere = (name: string, test: () => Promise<void>, timeout: number) =>
    it(name, { ...options, timeout }, test);

  itIfThere(
    'is a trace, and fails in CI only when a score fell too far',
    async () => {
      const careful = await evaluate();
      expect(careful, careful.error).toMatchObject({ code: 0, error: expect.stringContaining('3/3') });
      const [first] = await query({ call_ids: [careful.id] });
      const calls = await query({ trace_ids: [first?.trace_id] });
      expect(first).toMatchObject({
        parent_id: null,
        exception: null,
        inputs: { model: 'careful' },
        output: { correct: { mean: 1 }, brevity: { mean: expect.closeTo(0.91, 1) } },
      });
      const below = (id: string) => calls.filter(({ parent_id }) => parent_id === id);
      const rows = below(careful.id);
      expect(rows.map(getName)).toEqual(Array(3).fill('Evaluation.predict_and_score'));
      expect(new Set(rows.map(({ inputs }) => JSON.stringify(inputs.example))).size).toBe(3);
      for (const row of rows) {
        expect(row.output).toMatchObject({ scores: { correct: 1 }, model_latency: expect.any(Number) });
        expect(new Set(below(row.id).map(getName))).toEqual(new Set(['answer', 'correct', 'brevity']));
        const judged = below(row.id).find((call) => getName(call) === 'correct');
        expect(judged?.output).toMatchObject({ value: true, reason: expect.stringContaining('expected') });
      }
      expect(calls.find((call) => getName(call) === 'answer')?.summary.usage).toHaveProperty('careful');

      const hasty = await evaluate('--model', 'hasty', '--max-fall', '0.1');
      expect(hasty, hasty.error).toMatchObject({ code: 1, out: expect.stringMatching(/^correct .* fell$/m) });
      // A row whose function fails scores 0, and its call has the exception.
      const [second] = await query({ call_ids: [hasty.id] });
      expect(second?.output).toMatchObject({ correct: { mean: expect.closeTo(1 / 3) } });
      const failed = (await query({ trace_ids: [second?.trace_id] })).filter(({ exception }) => exception);
      expect(failed.map(getName)).toEqual(['answer']);

      const again = await evaluate('--model', 'careful', '--baseline', careful.id, '--max-fall', '0');
      expect(again, again.error).toMatchObject({ code: 0 });
      // It leads to the comparison in the page.
      const page = new URL(/^http.*\/ui\/evaluation\?.*$/m.exec(again.out)?.[0] ?? '');
      expect(page.searchParams.get('project')).toBe(project_id);
      expect(JSON.parse(page.searchParams.get('runs') ?? '')).toEqual([careful.id, again.id]);
      expect((await evaluate('--baseline', 'nothing')).code).toBe(1);
      // All of them are of the same version of the dataset and of the evaluation.
      const [third] = await query({ call_ids: [again.id] });
      expect(third?.inputs.self).toBe(first?.inputs.self);
    },
    120_000,
  );

  itIfThere(
    'fails at every try of what is worse, also when it is repeated',
    async () => {
      const { id } = await evaluate('--dataset', 'again', '--max-fall', '0.1');
      // Without a limit nothing fails, but what is worse is nobody's baseline.
      expect((await evaluate('--dataset', 'again', '--model', 'hasty')).code).toBe(0);
      for (const _ of ['second', 'third']) {
        const hasty = await evaluate('--dataset', 'again', '--model', 'hasty', '--max-fall', '0.1');
        expect(hasty, hasty.error).toMatchObject({
          code: 1,
          out: expect.stringMatching(/^correct .*fell$/m),
        });
        const page = new URL(/^http.*$/m.exec(hasty.out)?.[0] ?? '');
        expect(JSON.parse(page.searchParams.get('runs') ?? '')[0]).toBe(id);
      }
      const passed = await evaluate('--dataset', 'again', '--max-fall', '0');
      expect(passed, passed.error).toMatchObject({ code: 0 });
    },
    120_000,
  );

  itIfThere(
    'compares with a baseline that is named until that is moved',
    async () => {
      const run = (...args: string[]) => evaluate('--dataset', 'named', '--baseline', 'release/1', ...args);
      const missing = await run();
      expect(missing).toMatchObject({
        code: 1,
        error: expect.stringContaining('set one with --set-baseline'),
      });
      const first = await run('--model', 'hasty', '--set-baseline');
      expect(first, first.error).toMatchObject({ code: 0, out: expect.stringContaining('from now on') });
      const better = await run('--max-fall', '0');
      expect(better, better.error).toMatchObject({ code: 0 });
      // A better one that passed has not moved it.
      expect(await run('--model', 'hasty', '--max-fall', '0')).toMatchObject({ code: 0 });
      expect(await run('--max-fall', '0', '--set-baseline')).toMatchObject({ code: 0 });
      // What falls does not move it, asked to or not.
      const worse = await run('--model', 'hasty', '--max-fall', '0.1', '--set-baseline');
      expect(worse).toMatchObject({ code: 1, out: expect.not.stringContaining('from now on') });
      expect(await run('--model', 'hasty', '--max-fall', '0.1')).toMatchObject({ code: 1 });
      expect(await evaluate('--dataset', 'named', '--set-baseline')).toMatchObject({
        code: language === 'Node' ? 1 : 2,
        error: expect.stringContaining('--set-baseline needs a --baseline'),
      });
      if (language === 'Node')
        expect((await evaluate('--max-fall', 'much')).error).toContain('--max-fall should be a number');
    },
    120_000,
  );
});
