import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  chooseShard,
  compactId,
  fromCompactId,
  fromSignedTimeBytes,
  fromUnsignedTimeBytes,
  joinBytes,
  orderedByDigest,
  packUuid,
  shortDigest,
  signedTimeBytes,
  sortableId,
  unpackUuid,
  unsignedTimeBytes,
} from '../../../../foundations/encoding/keys.ts';
import { compareText } from '../../../../foundations/expression/index.ts';
import { isId } from '../../../../foundations/wire/index.ts';
import { anyCharacter } from '../../../support/values/arbitraries/character.ts';

it('joins texts, single bytes and bytes in their order', () => {
  expect(joinBytes('a/é', 0, Buffer.from('ff00', 'hex'), 255, '').toString('hex')).toBe('612fc3a900ff00ff');
});

const safe = Number.MAX_SAFE_INTEGER;
const signed = fc.integer({ min: -safe, max: safe });
const unsigned = fc.integer({ min: 0, max: safe });

describe('signedTimeBytes', () => {
  it('orders as the times do, before 1970 too', () => {
    fc.assert(
      fc.property(signed, signed, (a, b) => {
        expect(Math.sign(Buffer.compare(signedTimeBytes(a), signedTimeBytes(b)))).toBe(Math.sign(a - b));
      }),
    );
  });

  it.each([
    [0, '20000000000000'],
    [-1, '1fffffffffffff'],
    [1_788_000_000_123_456, '265a2d30dda240'],
    [safe, '3fffffffffffff'],
    [-safe, '00000000000001'],
  ])('writes %d as %s', (micros, hex) => {
    expect(signedTimeBytes(micros).toString('hex')).toBe(hex);
  });

  it('is undone, whatever follows', () => {
    fc.assert(
      fc.property(signed, fc.uint8Array(), (micros, after) => {
        expect(fromSignedTimeBytes(Buffer.concat([signedTimeBytes(micros), after]))).toBe(micros);
      }),
    );
  });
});

describe('unsignedTimeBytes', () => {
  it('orders as the times do, and restores them', () => {
    fc.assert(
      fc.property(unsigned, unsigned, (a, b) => {
        expect(Math.sign(Buffer.compare(unsignedTimeBytes(a), unsignedTimeBytes(b)))).toBe(Math.sign(a - b));
        expect(fromUnsignedTimeBytes(unsignedTimeBytes(a))).toBe(a);
      }),
    );
  });

  it.each([
    [0, '0000000000000000'],
    [1_788_000_000_123_456, '00065a2d30dda240'],
    [safe, '001fffffffffffff'],
    [-1, '0000000000000000'],
    [Number.POSITIVE_INFINITY, '001fffffffffffff'],
  ])('writes %d as %s', (micros, hex) => {
    expect(unsignedTimeBytes(micros).toString('hex')).toBe(hex);
  });

  it('is read even if more bytes follow', () => {
    expect(fromUnsignedTimeBytes(Buffer.concat([unsignedTimeBytes(7), Buffer.from('id')]))).toBe(7);
  });
});

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

const ids = fc.oneof(
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 60 }).filter(isId),
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
);

describe('compactId', () => {
  it('restores every id', () => {
    fc.assert(fc.property(ids, (id) => fromCompactId(compactId(id)) === id));
  });

  it('distinguishes any two ids', () => {
    fc.assert(fc.property(ids, ids, (a, b) => compactId(a).equals(compactId(b)) === (a === b)));
  });

  it('takes 17 bytes for a UUID and the UTF-8 of anything else', () => {
    expect(compactId('01a0f4c3-0874-7e3e-8297-4bcd6baa9455').toString('hex')).toBe(
      '0101a0f4c308747e3e82974bcd6baa9455',
    );
    expect(compactId('01A0F4C3').toString('utf8')).toBe('01A0F4C3');
    expect(compactId('日').toString('hex')).toBe('e697a5');
  });
});

const head = '日'.repeat(90);
const short = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 60 }).filter(isId);
/** Ids of more than 300 bytes, many with a common beginning. */
const long = fc
  .tuple(
    fc.constantFrom(head, '😀'.repeat(70), ''),
    fc.string({ unit: 'grapheme', minLength: 100, maxLength: 120 }),
  )
  .map((parts) => parts.join(''))
  .filter(isId);
const sortableIds = fc.oneof(short, fc.uuid(), fc.stringMatching(/^[a-c]{1,3}$/), long);

describe('sortableId', () => {
  it('orders as ids do by code point, unless a digest decides', () => {
    fc.assert(
      fc.property(sortableIds, sortableIds, (a, b) => {
        if (a !== b && orderedByDigest(a, b)) return;
        expect(Math.sign(Buffer.compare(sortableId(a), sortableId(b)))).toBe(Math.sign(compareText(a, b)));
      }),
    );
  });

  it('distinguishes any two ids in at most 300 bytes', () => {
    fc.assert(
      fc.property(sortableIds, sortableIds, (a, b) => {
        expect(sortableId(a).equals(sortableId(b))).toBe(a === b);
        expect(sortableId(a).length).toBeLessThanOrEqual(300);
      }),
    );
  });

  it('keeps 300 bytes, and of longer ids the first 236 with a SHA-256 in hex', () => {
    const fitting = 'a'.repeat(300);
    expect(sortableId(fitting).toString()).toBe(fitting);
    const tooLong = `${fitting}b`;
    const digest = createHash('sha256').update(tooLong).digest('hex');
    expect(sortableId(tooLong).toString()).toBe(`${'a'.repeat(236)}${digest}`);
  });
});

describe('orderedByDigest', () => {
  it('is true only for long ids that start alike', () => {
    expect(orderedByDigest(`${head}${'a'.repeat(40)}`, `${head}${'b'.repeat(40)}`)).toBe(true);
    expect(orderedByDigest(`a${head}`, `b${head}`)).toBe(false);
    expect(orderedByDigest('a', 'b')).toBe(false);
  });
});

describe('shardOf', () => {
  it('spreads traces evenly', () => {
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 4000; i++) {
      const shard = chooseShard(`01a0f4c3-0874-7424-a0b8-${i.toString(16).padStart(12, '0')}`, 4);
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(200);
  });

  // http://www.isthe.com/chongo/src/fnv/test_fnv.c has these of ASCII.
  it.each([
    ['', 0x811c9dc5],
    ['a', 0xe40c292c],
    ['foobar', 0xbf9cf968],
  ])('hashes "%s" by FNV-1a', (id, hash) => {
    expect(chooseShard(id, 2 ** 32)).toBe(hash);
  });
});

it('makes a short digest of the first 16 bytes of the SHA-256 of a text', () => {
  const whole = createHash('sha256').update('日', 'utf8').digest('hex');
  expect(shortDigest('日').toString('hex')).toBe(whole.slice(0, 32));
});
