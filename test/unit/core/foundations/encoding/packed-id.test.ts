import { describe, expect, it } from 'vitest';
import { unpackId } from '../../../../../core/foundations/encoding/packed-id.ts';

describe('unpackId', () => {
  it('gives the id that a number stands for among the known ones', () => {
    expect(unpackId(1, ['call', 'parent'])).toBe('parent');
    expect(unpackId(1, ['call'])).toBeNull();
  });

  it('gives the UUID of 16 bytes, and any other id as it is', () => {
    const uuid = '01a0f4c3-0874-7e3e-8297-4bcd6baa9455';
    expect(unpackId(Buffer.from('01a0f4c308747e3e82974bcd6baa9455', 'hex'), [])).toBe(uuid);
    expect(unpackId('trace', [])).toBe('trace');
    expect(unpackId(null, [])).toBeNull();
  });
});
