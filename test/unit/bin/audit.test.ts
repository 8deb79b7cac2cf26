import { describe, expect, it } from 'vitest';
import { deployedIn, judgeAdvisories, judgeSignatures } from '../../../bin/audit.ts';
import { readText } from '../../support/documents/documents.ts';

const via = [{ title: 'Prototype pollution', url: 'https://advisories.example/1' }];
const report = (severity: string, fixAvailable: unknown) =>
  JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities: { left: { severity, nodes: ['node_modules/left'], via, fixAvailable } },
    metadata: {},
  });

const deployed = new Set(['node_modules/left']);

/** What npm writes when the registry does not do audits. */
const refused = JSON.stringify({
  message: '405 Method Not Allowed',
  statusCode: 405,
  error: { summary: '' },
});

describe('an advisory', () => {
  it.each([
    ['high', true],
    ['critical', { name: 'left', version: '2.0.0', isSemVerMajor: true }],
  ])('of severity %s fails a change if a fixed version exists', (severity, fix) => {
    expect(judgeAdvisories(report(severity, fix), deployed).passes).toBe(false);
  });

  it.each([
    ['critical', false],
    ['moderate', true],
    ['low', false],
  ])('of severity %s is only listed if it is not severe or nothing fixes it', (severity, fix) => {
    const { passes, lines } = judgeAdvisories(report(severity, fix), deployed);
    expect(passes).toBe(true);
    expect(lines.join()).toContain(`left: ${severity}`);
    expect(lines.join()).toContain('Prototype pollution');
  });
});

describe('an advisory on what is not deployed', () => {
  it('is only listed, however severe', () => {
    const { passes, lines } = judgeAdvisories(report('critical', true), new Set(['node_modules/right']));
    expect(passes).toBe(true);
    expect(lines.join()).toContain('left: critical');
  });
});

it('What is deployed are the dependencies of the project and theirs, but not those of its workspaces', () => {
  const paths = deployedIn(readText('package-lock.json'));
  const named = ['zod', '@aws-sdk/client-dynamodb', 'mnemonist', 'fauxqs', 'fastify', 'openapi-typescript'];
  expect(named.filter((name) => paths.has(`node_modules/${name}`))).toEqual(named.slice(0, 3));
});

describe('a signature', () => {
  const one = { name: 'left', version: '1.0.0' };

  it('fails a change if it is wrong', () => {
    const { passes, lines } = judgeSignatures(JSON.stringify({ invalid: [one], missing: [] }));
    expect(passes).toBe(false);
    expect(lines[0]).toContain('left@1.0.0');
  });

  it('is only counted if it is missing', () => {
    expect(judgeSignatures(JSON.stringify({ invalid: [], missing: [one] })).passes).toBe(true);
  });
});

describe('a registry that does not answer', () => {
  it.each(['', 'npm error network', refused])('fails no change: %j', (output) => {
    for (const { passes, lines } of [judgeAdvisories(output, deployed), judgeSignatures(output)]) {
      expect(passes).toBe(true);
      expect(lines.join()).toContain('did not answer');
    }
  });
});
