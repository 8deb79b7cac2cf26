import { formatGrant, type KeyRecord, keyState } from '../../core/foundations/auth/index.ts';
import { formatTime, type Micros } from '../../core/foundations/wire/index.ts';

/** Formats a time to the second: `2027-01-01 00:00:00Z`. */
const shortTime = (micros: Micros): string => `${formatTime(micros).slice(0, 19).replace('T', ' ')}Z`;

const expiry = (record: KeyRecord): string =>
  record.expiresAt === undefined ? 'never' : shortTime(record.expiresAt);

/**
 * The message about a new key, on several lines.
 *
 * @param shown the key, or a variable's name in its place if the text may end in a log
 */
export const describeNewKey = (record: KeyRecord, shown: string): string => {
  const roles = new Set(record.grants.map(({ role }) => role));
  const lines = [
    'A new key. It is shown only now; the service stores its digest.',
    '',
    `  id       ${record.id}`,
    `  user     ${record.user}`,
    `  grants   ${record.grants.map(formatGrant).join(' ')}`,
    `  expires  ${expiry(record)}`,
  ];
  // The user name "api" goes with every key, and needs no quoting in a shell.
  if (roles.has('read') || roles.has('write')) lines.push(`  curl     -u "api:${shown}"`);
  if (roles.has('inference')) lines.push(`  curl     -H "Authorization: Bearer ${shown}"   (inference)`);
  return lines.join('\n');
};

/**
 * Formats keys as a table for people, one per line under a header.
 *
 * @param now UTC microseconds since 1970
 */
export const describeKeys = (records: readonly KeyRecord[], now: Micros): string => {
  const rows = records.map((record) => [
    record.id,
    keyState(record, now),
    record.user,
    shortTime(record.createdAt),
    expiry(record),
    record.grants.map(formatGrant).join(' '),
  ]);
  const table = [['KEY ID', 'STATE', 'USER', 'CREATED', 'EXPIRES', 'GRANTS'], ...rows];
  const widths = table.reduce<number[]>(
    (widest, row) => row.map((cell, i) => Math.max(cell.length, widest[i] ?? 0)),
    [],
  );
  return table
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

/**
 * Formats keys as a JSON list for scripts: times in ISO 8601 or null, without digests.
 *
 * @param now UTC microseconds since 1970
 */
export const keysAsJson = (records: readonly KeyRecord[], now: Micros): string => {
  const time = (micros: Micros | undefined) => (micros === undefined ? null : formatTime(micros));
  const list = records.map((record) => ({
    id: record.id,
    state: keyState(record, now),
    user: record.user,
    grants: record.grants.map(formatGrant),
    created_at: time(record.createdAt),
    expires_at: time(record.expiresAt),
    revoked_at: time(record.revokedAt),
  }));
  return JSON.stringify(list, undefined, 2);
};
