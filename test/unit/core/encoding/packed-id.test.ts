import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packId, unpackId } from '../../../../core/encoding/packed-id.ts';

const ids = fc.option(fc.oneof(fc.constantFrom('a', 'b', '0'), fc.uuid()), { nil: null });

describe('packId', () => {
  it('restores an id with the same known ids', () => {
    fc.assert(fc.property(ids, fc.array(ids), (id, known) => unpackId(packId(id, known), known) === id));
  });

  it('packs a known id as its first position', () => {
    expect(packId('call', ['call', 'parent', 'call'])).toBe(0);
    expect(packId('parent', ['call', 'parent'])).toBe(1);
  });

  it('packs a UUID into its bytes, and leaves other ids and null as they are', () => {
    const uuid = '01a0f4c3-0874-7e3e-8297-4bcd6baa9455';
    expect(packId(uuid, ['call', null])).toEqual(Buffer.from('01a0f4c308747e3e82974bcd6baa9455', 'hex'));
    expect(packId('trace', ['call', null])).toBe('trace');
    expect(packId(null, ['call', null])).toBeNull();
  });
});
