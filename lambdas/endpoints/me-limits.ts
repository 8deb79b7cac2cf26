import { limitsLeft } from '../common/http/limits-left.ts';
import { meHandler } from '../common/http/me.ts';

/** `GET /me` of a service with the setting `limits`: it says what is left of them, too. */
export const handler = meHandler(limitsLeft);
