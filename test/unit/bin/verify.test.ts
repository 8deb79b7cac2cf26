import { expect, it } from 'vitest';
import { checks, cleanup, last, untried } from '../../../bin/verify/list.ts';
import { readText } from '../../support/documents/documents.ts';

/** The names in bold of what was not tested against AWS. A name may go on in the next line. */
const promised = (): string[] => {
  const [, section = ''] = readText('docs/architecture.md').split('## What was not tested against AWS\n');
  const [own = ''] = section.split('\n## ');
  return [...own.matchAll(/\*\*([^*]+)\*\*/g)].map(([, name = '']) => name.replaceAll(/\s+/g, ' '));
};

it('has a check for each promise of the documents, or the reason why there is none', () => {
  const names = [...checks, cleanup, ...last, ...untried].map(({ name }) => name);
  expect(promised().toSorted()).toEqual(names.toSorted());
});
