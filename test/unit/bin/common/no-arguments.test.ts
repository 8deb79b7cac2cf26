import { expect, it } from 'vitest';
import { takeNoArguments } from '../../../../bin/common/no-arguments.ts';

const given = (...args: string[]): unknown[] => {
  const said: unknown[] = [];
  const say = (value: unknown) => void said.push(value);
  takeNoArguments('audit', 'The help.', args, { out: say, err: say }, say);
  return said;
};

it('a command without arguments goes on if it gets none', () => {
  expect(given()).toEqual([]);
});

it.each(['--help', '-h'])('a command without arguments answers %s', (flag) => {
  expect(given(flag)).toEqual(['The help.', 0]);
});

it('a command without arguments refuses any other', () => {
  expect(given('--port')).toEqual([
    'audit: --port: this command takes no arguments\nSee npm run audit -- --help',
    2,
  ]);
});
