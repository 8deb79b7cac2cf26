import { expect, it } from 'vitest';
import { callKind } from '../../../../api/queries.ts';
import { headerAttributes, headerSummaryFields, isHeaderPath } from '../../../../api/shared/header-fields.ts';
import { findRequirements } from '../../../../core/questions/query/fields.ts';
import { toPath } from '../../../../foundations/expression/index.ts';

const includes = {
  costs: true,
  feedback: true,
  storageSize: true,
  totalStorageSize: true,
  traceTotals: false,
};

it('paths that headers answer are those that queries fetch nothing for', () => {
  const paths = [
    ...callKind(includes).fields,
    ...headerAttributes.map((name) => `attributes.${name}`),
    ...headerSummaryFields.map((name) => `summary.svc.${name}`),
    'attributes.tags',
    'attributes.tool',
    'inputs.model',
    'output.0',
    'summary.usage.m',
    'summary.note',
    `summary.svc.costs`,
    `summary.svc.feedback`,
  ];
  for (const path of paths) {
    const fetched = findRequirements([], includes, toPath(path)).filter(
      // Headers hold these, if they are short texts.
      (requirement) => !requirement.startsWith('attributes.'),
    );
    expect(isHeaderPath(path), path).toBe(fetched.length === 0);
  }
});
