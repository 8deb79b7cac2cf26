import { describe, expect, it } from 'vitest';
import type { ObjectVersion } from '../../../../../web/api/contract.ts';
import { allowsLinks, toLink } from '../../../../../web/views/trace/links.ts';

const now = Date.parse('2026-10-01T00:00:00Z');

const version = (val: unknown, version_index = 0): ObjectVersion => ({
  project_id: 'acme/shop',
  object_id: 'link-1',
  digest: 'd',
  version_index,
  is_latest: 1,
  kind: 'object',
  base_object_class: 'PublicLink',
  created_at: '2026-09-30T00:00:00.000000Z',
  svc_user_id: 'ada',
  val,
});

const link = { _type: 'PublicLink', trace_id: 't', expires_at: '2026-10-02T00:00:00Z', digest: 'x' };

describe('a stored link', () => {
  it.each<[string, object, number, string]>([
    ['active', {}, 0, 'active'],
    ['expired at its end', { expires_at: '2026-10-01T00:00:00Z' }, 0, 'expired'],
    ['revoked', { revoked: true }, 1, 'revoked'],
    ['over once there was another version', {}, 1, 'revoked'],
  ])('is %s', (_, fields, index, state) => {
    expect(toLink(version({ ...link, ...fields }, index), now)).toMatchObject({
      id: 'link-1',
      by: 'ada',
      state,
    });
  });

  it.each([null, 'text', {}, { ...link, _type: 'Other' }, { ...link, trace_id: 1 }])('is not %j', (val) => {
    expect(toLink(version(val), now)).toBeUndefined();
  });
});

it.each<[unknown, boolean]>([
  [{ _type: 'Sharing', public_links: true }, true],
  [{ _type: 'Sharing', public_links: false }, false],
  [{ _type: 'Other', public_links: true }, false],
  [null, false],
])('a project whose object says %j allows links: %s', (val, allowed) => {
  expect(allowsLinks([version(val)])).toBe(allowed);
  expect(allowsLinks([])).toBe(false);
});
