import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idFrom, toMicros, toOpName } from '../../../../../core/doors/otel/calls.ts';
import { findProject } from '../../../../../core/doors/otel/projects.ts';
import type { AttributeValue } from '../../../../../core/doors/otel/span.ts';
import { toCallId } from '../../../../../core/doors/otel/span.ts';
import { isId } from '../../../../../foundations/wire/index.ts';
import { anyCharacter } from '../../../../support/values/arbitraries/character.ts';

const anyText = fc.oneof(fc.string({ unit: anyCharacter }), fc.string({ unit: 'grapheme', minLength: 200 }));

describe('an op’s name', () => {
  it('is the span’s', () => {
    expect(toOpName('chat gpt-4o')).toBe('chat gpt-4o');
    expect(toOpName('')).toBe('unnamed');
    expect(toOpName('a\nb')).toBe('a b');
  });

  it('is always 1 to 1,024 characters without controls or lone surrogates', () => {
    fc.assert(
      fc.property(anyText, fc.nat(5000), (text, times) => {
        expect(toOpName(text.repeat(Math.min(times, 20)))).toMatch(/^[^\p{Cc}\p{Cs}]{1,1024}$/u);
      }),
    );
    expect(toOpName('😀'.repeat(600)).length).toBeLessThanOrEqual(1024);
    expect(toOpName(`${'x'.repeat(1023)}😀`)).toBe(`${'x'.repeat(1023)} `);
  });
});

describe('an id made of a text', () => {
  it('is the text if that is an id', () => {
    expect(idFrom('chat-1')).toBe('chat-1');
    expect(idFrom('a\u2028b')).toBe('a b');
    expect(idFrom(' \n')).toBeUndefined();
  });

  it('of more than 256 characters keeps texts apart', () => {
    const long = 'x'.repeat(1000);
    expect(idFrom(`${long}a`)).not.toBe(idFrom(`${long}b`));
    expect(idFrom(long)).toHaveLength(256);
  });

  it('is always an id', () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom(1, 100), (text, times) => {
        const id = idFrom(text.repeat(times));
        expect(id === undefined || isId(id)).toBe(true);
      }),
    );
  });
});

describe('a call', () => {
  it('is named by its span', () => {
    expect(toCallId('0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331')).toBe(
      '8448eb211c80319cb7ad6b7169203331',
    );
  });

  it('has its times to the microsecond', () => {
    expect(toMicros(1_790_812_800_123_456_999n)).toBe(1_790_812_800_123_456);
  });
});

const projectFor = (resource: Record<string, AttributeValue>, header?: string) =>
  findProject(new Map(Object.entries(resource)), header);

describe('the project of a resource', () => {
  it('is under our own name or Weave’s', () => {
    expect(projectFor({ 'weave.project_id': 'acme/shop' }, 'acme/other')).toEqual({ projectId: 'acme/shop' });
    expect(projectFor({ 'svc.project_id': 'acme/shop' }, 'acme/other')).toEqual({ projectId: 'acme/shop' });
    expect(projectFor({ 'other.project_id': 'acme/shop' })).toHaveProperty('problem');
  });

  it('may be named as Weave does, both parts of it', () => {
    expect(projectFor({ 'wandb.entity': 'acme', 'wandb.project': 'shop' })).toEqual({
      projectId: 'acme/shop',
    });
    expect(projectFor({ 'wandb.entity': 'acme' }, 'acme/other')).toEqual({ projectId: 'acme/other' });
  });

  it.each([
    [{ 'weave.project_id': 'acme' }, undefined, 'weave.project_id is "acme"'],
    [{ 'wandb.entity': 'a/b', 'wandb.project': 'c' }, undefined, '"a/b/c"'],
    [{}, '../x', 'the header project_id is "../x"'],
    [{ 'weave.project_id': 7 }, undefined, 'OTEL_RESOURCE_ATTRIBUTES="svc.project_id='],
  ])('that is none in %j and %s is a problem that shows it', (resource, header, problem) => {
    expect(projectFor(resource as Record<string, AttributeValue>, header)).toEqual({
      problem: expect.stringContaining(problem),
    });
  });
});
