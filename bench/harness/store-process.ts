/**
 * The embedded store in a process of its own, so that the bench can tell its processor time from the
 * service's. It sends its endpoint to the process that forked it, and ends with it.
 */

import { startStore } from 'dynamodb-on-sqlite';

const { endpoint } = await startStore();
process.once('disconnect', () => process.exit(0));
process.send?.(endpoint);
