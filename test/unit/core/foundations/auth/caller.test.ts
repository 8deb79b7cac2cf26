import { describe, expect, it } from 'vitest';
import {
  type Caller,
  fromContext,
  hasExpired,
  toContext,
} from '../../../../../core/foundations/auth/caller.ts';

const caller: Caller = {
  user: 'Zoë',
  keyId: '0123456789abcdef',
  grants: [
    { scope: 'acme/*', role: 'write' },
    { scope: '*', role: 'inference' },
  ],
  expiresAt: 1_798_761_600_000_001,
};

describe("the caller in the gateway's context", () => {
  it('consists of strings', () => {
    expect(toContext(caller)).toEqual({
      user: 'Zoë',
      keyId: '0123456789abcdef',
      grants: 'acme/*:write *:inference',
      expiresAt: '2027-01-01T00:00:00.000001Z',
    });
  });

  it('is read back unchanged beside the gateway’s own fields', () => {
    expect(fromContext({ ...toContext(caller), principalId: 'Zoë', integrationLatency: 12 })).toEqual(caller);
  });

  it('is read back unchanged without an expiry', () => {
    const { expiresAt: _, ...unending } = caller;
    expect(fromContext(toContext(unending))).toEqual(unending);
  });

  it.each([
    ['absent', undefined],
    ['null', null],
    ['empty', {}],
    ['without grants', { user: 'ada', keyId: 'k' }],
    ['with malformed grants', { ...toContext(caller), grants: 'everything' }],
    ['with an expiry that is no time', { ...toContext(caller), expiresAt: 'soon' }],
    ['with an expiry that is no text', { ...toContext(caller), expiresAt: 1 }],
  ])('is an internal error when it is %s', (_, context) => {
    expect(() => fromContext(context)).toThrow(/no caller/);
  });
});

describe("the expiry of the caller's key", () => {
  it('is reached at its microsecond', () => {
    expect(hasExpired({ expiresAt: 10 }, 9)).toBe(false);
    expect(hasExpired({ expiresAt: 10 }, 10)).toBe(true);
  });

  it('is never reached if there is none', () => {
    expect(hasExpired({}, Number.MAX_SAFE_INTEGER)).toBe(false);
  });
});
