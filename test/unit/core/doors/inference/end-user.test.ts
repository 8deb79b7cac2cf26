import { expect, it } from 'vitest';
import { getEndUser } from '../../../../../core/doors/inference/index.ts';

it.each([
  [{ user: 'ada' }, 'ada'],
  [{ metadata: { user_id: 'ben' } }, 'ben'],
  [{ user: 'ada', metadata: { user_id: 'ben' } }, 'ada'],
  [{ user: '', metadata: { user_id: 'ben' } }, 'ben'],
  [{ user: 1, metadata: 'ben' }, undefined],
  [{ user: null, metadata: null }, undefined],
  [{ metadata: { user_id: ['ben'] } }, undefined],
  [{}, undefined],
])('the end user of %j is %s', (body, endUser) => {
  expect(getEndUser(body)).toBe(endUser);
});
