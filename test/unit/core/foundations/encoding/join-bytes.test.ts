import { expect, it } from 'vitest';
import { joinBytes } from '../../../../../core/foundations/encoding/join-bytes.ts';

it('joins texts, single bytes and bytes in their order', () => {
  expect(joinBytes('a/é', 0, Buffer.from('ff00', 'hex'), 255, '').toString('hex')).toBe('612fc3a900ff00ff');
});
