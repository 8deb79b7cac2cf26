import ipaddr from 'ipaddr.js';

/** Global unicast, the only part of IPv6 that is given out (https://www.iana.org/assignments/ipv6-address-space). */
const globalUnicast = [ipaddr.parse('2000::'), 3] as const;

/**
 * Whether an IP address is on the public internet: not of this machine, a private network, a link, a
 * provider's own network or metadata, nor one that stands for another address, such as an IPv4 address
 * in IPv6.
 *
 * @param text as the system's resolver writes it
 */
export const isPublicAddress = (text: string): boolean => {
  const address = ipaddr.parse(text);
  if (address.kind() === 'ipv6' && !address.match(...globalUnicast)) return false;
  return address.range() === 'unicast';
};

/** Whether an IP address is this machine's own. */
export const isLoopbackAddress = (text: string): boolean => ipaddr.parse(text).range() === 'loopback';
