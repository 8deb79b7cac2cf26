import { describe, expect, it } from 'vitest';
import { judgeAdvisories, judgeSignatures } from '../../../bin/audit.ts';

const via = [{ title: 'Prototype pollution', url: 'https://advisories.example/1' }];
const report = (severity: string, fixAvailable: unknown) =>
  JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities: { left: { severity, via, fixAvailable } },
    metadata: {},
  });

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
    expect(judgeAdvisories(report(severity, fix)).passes).toBe(false);
  });

  it.each([
    ['critical', false],
    ['moderate', true],
    ['low', false],
  ])('of severity %s is only listed if it is not severe or nothing fixes it', (severity, fix) => {
    const { passes, lines } = judgeAdvisories(report(severity, fix));
    expect(passes).toBe(true);
    expect(lines.join()).toContain(`left: ${severity}`);
    expect(lines.join()).toContain('Prototype pollution');
  });
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
    for (const { passes, lines } of [judgeAdvisories(output), judgeSignatures(output)]) {
      expect(passes).toBe(true);
      expect(lines.join()).toContain('did not answer');
    }
  });
});
