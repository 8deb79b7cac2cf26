import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../../../../../core/workers/alerts/tell/address.ts';

describe('an address', () => {
  it.each(['52.94.236.248', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001::5e'])(
    '%s is public',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );

  it.each([
    ['this machine', '127.0.0.1', '127.255.1.2', '0.0.0.0', '0.1.2.3', '::1', '::'],
    ['a private network', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd00::1'],
    ['a link', '169.254.1.1', 'fe80::1', 'fe80::1%eth0', 'febf::1'],
    ['metadata of AWS', '169.254.169.254', '169.254.170.2', 'fd00:ec2::254'],
    ["a provider's own network", '100.64.0.1', '100.127.255.254'],
    [
      'IPv4 in IPv6',
      '::ffff:127.0.0.1',
      '::ffff:10.0.0.1',
      '::ffff:a9fe:a9fe',
      '::127.0.0.1',
      '::ffff:1.1.1.1',
    ],
    ['translated IPv4', '64:ff9b::a00:1', '64:ff9b:1::7f00:1', '2002:7f00:1::', '2001:0:4136:e378::'],
    ['many', '224.0.0.1', '239.255.255.250', '255.255.255.255', 'ff02::1'],
    [
      'nobody',
      '192.0.2.1',
      '198.18.0.1',
      '198.51.100.1',
      '203.0.113.1',
      '240.0.0.1',
      '2001:db8::1',
      'fec0::1',
    ],
    ['the unassigned part of IPv6', '4000::1', 'e000::1', '100::1', '5f00::1'],
  ])('of %s is not public', (_, ...addresses) => {
    for (const address of addresses) expect.soft(isPublicAddress(address), address).toBe(false);
  });
});
