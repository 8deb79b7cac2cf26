import * as sdk from '@smithy/core/checksum';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Sha256 } from '../../../../../../core/foundations/storage/sdk/checksum.ts';
import { anyCharacter } from '../../../../../support/arbitraries/character.ts';

const bytes = fc.uint8Array();
const chunk = fc.oneof(
  fc.string({ unit: anyCharacter }),
  bytes,
  bytes.map(({ buffer }) => buffer),
);
const secret = fc.option(chunk, { nil: undefined });

describe('what replaces the SHA-256 of the SDK in bundles', () => {
  it('gives the same of all that is hashed, with and without a secret', async () => {
    await fc.assert(
      fc.asyncProperty(secret, fc.array(chunk), async (key, chunks) => {
        const [own, theirs] = [new Sha256(key), new sdk.Sha256(key)];
        for (const each of chunks) {
          own.update(each);
          theirs.update(typeof each === 'string' ? Buffer.from(each) : new Uint8Array(each));
        }
        expect(Buffer.from(await own.digest())).toEqual(Buffer.from(await theirs.digest()));
      }),
    );
  });

  it('begins anew when it is reset', async () => {
    const hash = new Sha256('secret');
    hash.update('something');
    hash.reset();
    expect(await hash.digest()).toEqual(await new Sha256('secret').digest());
  });
});
