import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packUuid, unpackUuid } from '../../../../../core/foundations/encoding/uuid.ts';

const uuid = '01a0f4c3-0874-7e3e-8297-4bcd6baa9455';

describe('packUuid', () => {
  it('stores a UUID in 16 bytes, from which unpackUuid restores the text', () => {
    fc.assert(fc.property(fc.uuid(), (id) => unpackUuid(packUuid(id) ?? new Uint8Array()) === id));
    expect(packUuid(uuid)?.toString('hex')).toBe('01a0f4c308747e3e82974bcd6baa9455');
  });

  it.each([
    ['upper case', uuid.toUpperCase()],
    ['no hyphens', uuid.replaceAll('-', '')],
    ['braces', `{${uuid}}`],
    ['a line break behind it', `${uuid}\n`],
    ['another letter', uuid.replace('f', 'g')],
  ])('rejects a UUID with %s, which the bytes could not restore', (_, id) => {
    expect(packUuid(id)).toBeUndefined();
  });
});

describe('unpackUuid', () => {
  it('reads bytes inside others', () => {
    const around = Buffer.concat([Buffer.of(1), packUuid(uuid) ?? Buffer.alloc(0), Buffer.of(2)]);
    expect(unpackUuid(around.subarray(1, 17))).toBe(uuid);
  });
});
