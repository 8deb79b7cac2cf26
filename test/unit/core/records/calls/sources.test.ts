import { describe, expect, it } from 'vitest';
import { getSource, withSources } from '../../../../../core/records/calls/sources.ts';
import type { JsonObject } from '../../../../../foundations/wire/index.ts';
import { makeEnd, makeStart, parseBatch } from '../../../../support/values/calls.ts';

const named = (opName: string, attributes = {}) => getSource({ opName, attributes });

describe('the source of a call', () => {
  it.each([
    ['production', {}],
    ['production', { source: null }],
    ['production', { source: 'web' }],
    ['production', { source: true as const }],
    ['judge', { source: 'judge' }],
    ['test', { source: 'test' }],
  ])('is %s for attributes %j', (source, attributes) => {
    expect(named('answer', attributes)).toBe(source);
  });

  it('is known of evaluations by their operations, and of judges', () => {
    expect(named('Evaluation.evaluate')).toBe('evaluation');
    expect(named('svc:///acme/shop/op/Evaluation.predict_and_score:v1')).toBe('evaluation');
    expect(named('svc:///acme/shop/op/my.Evaluation.evaluate:v1')).toBe('production');
    expect(named('Evaluation.evaluate', { source: 'test' })).toBe('test');
    expect(getSource({ opName: 'judge', attributes: {}, isJudges: true })).toBe('judge');
  });
});

describe('calls below others in a request', () => {
  const start = (id: string, parent_id: string | null, attributes: JsonObject = {}, op_name = 'work') =>
    makeStart({ id, parent_id, trace_id: 't', op_name, attributes });
  const sourcesOf = (...reports: object[]) =>
    withSources(parseBatch(reports)).map((report) =>
      report.kind === 'start' ? report.start.attributes.source : null,
    );

  it('have the source of the nearest call above that has one, in any order', () => {
    const calls = [
      start('leaf', 'middle'),
      start('own', 'middle', { source: 'trial' }),
      start('middle', 'root'),
      start('root', null, { source: 'test' }),
      start('stranger', 'elsewhere'),
    ];
    expect(sourcesOf(...calls)).toEqual(['test', 'trial', 'test', 'test', undefined]);
  });

  it('have it from an evaluation that says none itself', () => {
    expect(sourcesOf(start('a', null, {}, 'Evaluation.evaluate'), start('b', 'a'))).toEqual([
      'evaluation',
      'evaluation',
    ]);
  });

  it('are production below what says so, also where that says something of its own', () => {
    const calls = [
      start('root', null, { source: 'test' }),
      start('served', 'root', { source: 'production' }),
      start('below', 'served'),
      start('web', 'root', { source: 'web' }),
      start('shown', 'web'),
    ];
    expect(sourcesOf(...calls)).toEqual(['test', 'production', undefined, 'web', undefined]);
  });

  it('have none from calls that are above themselves, or of another project', () => {
    expect(sourcesOf(start('a', 'b'), start('b', 'a'), start('c', null, { source: 'test' }))).toEqual([
      undefined,
      undefined,
      'test',
    ]);
    const other = makeStart({ project_id: 'acme/other', id: 'd', parent_id: 'c', attributes: {} });
    expect(sourcesOf(start('c', null, { source: 'test' }), other)).toEqual(['test', undefined]);
  });

  it('have that of their environment, if nothing else is known', () => {
    const sources = new Map([['acme/shop ci', 'test']]);
    const attributes = { environment: 'ci' };
    const reports = parseBatch([
      makeStart({ project_id: 'acme/shop', id: 'a', trace_id: 't', attributes }),
      makeStart({ project_id: 'acme/shop', id: 'b', trace_id: 't', parent_id: 'c', attributes }),
      makeStart({ project_id: 'acme/shop', id: 'c', trace_id: 't', op_name: 'Evaluation.evaluate' }),
      makeStart({ project_id: 'acme/shop', id: 'd', trace_id: 't', attributes: { environment: 'eu' } }),
      makeStart({ project_id: 'acme/other', id: 'e', trace_id: 't', attributes }),
      makeStart({ project_id: 'acme/shop', id: 'f', trace_id: 't', parent_id: 'a' }),
      makeStart({
        project_id: 'acme/shop',
        id: 'g',
        trace_id: 't',
        parent_id: 'a',
        attributes: { environment: 'eu' },
      }),
    ]);
    const found = withSources(reports, (project, environment) => sources.get(`${project} ${environment}`));
    expect(found.map((report) => (report.kind === 'start' ? report.start.attributes.source : null))).toEqual([
      'test',
      'evaluation',
      'evaluation',
      undefined,
      undefined,
      'test',
      undefined,
    ]);
  });

  it('are the same reports if no call says its source', () => {
    const reports = parseBatch([start('a', null), start('b', 'a'), makeEnd({ id: 'a' })]);
    expect(withSources(reports)).toBe(reports);
  });
});
