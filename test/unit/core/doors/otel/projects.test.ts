import { describe, expect, it } from 'vitest';
import { projectOf } from '../../../../../core/doors/otel/projects.ts';
import type { AttributeValue } from '../../../../../core/doors/otel/span.ts';
import { weavePolicy } from '../../../../../weave/policy.ts';

const policy = weavePolicy;
const of = (resource: Record<string, AttributeValue>, header?: string) =>
  projectOf(new Map(Object.entries(resource)), header, policy);

describe('the project of a resource', () => {
  it('is under the service’s own name', () => {
    expect(of({ 'weave.project_id': 'acme/shop' }, 'acme/other')).toEqual({ projectId: 'acme/shop' });
    expect(of({ 'svc.project_id': 'acme/shop' })).toHaveProperty('problem');
  });

  it('may be named as Weave does, both parts of it', () => {
    expect(of({ 'wandb.entity': 'acme', 'wandb.project': 'shop' })).toEqual({ projectId: 'acme/shop' });
    expect(of({ 'wandb.entity': 'acme' }, 'acme/other')).toEqual({ projectId: 'acme/other' });
  });

  it.each([
    [{ 'weave.project_id': 'acme' }, undefined, 'weave.project_id is "acme"'],
    [{ 'wandb.entity': 'a/b', 'wandb.project': 'c' }, undefined, '"a/b/c"'],
    [{}, '../x', 'the header project_id is "../x"'],
    [{ 'weave.project_id': 7 }, undefined, 'OTEL_RESOURCE_ATTRIBUTES="weave.project_id='],
  ])('that is none in %j and %s is a problem that shows it', (resource, header, problem) => {
    expect(of(resource as Record<string, AttributeValue>, header)).toEqual({
      problem: expect.stringContaining(problem),
    });
  });
});
