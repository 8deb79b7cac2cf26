import { limitsLeft } from '../shared/http/limits-left.ts';
import { meHandler } from '../shared/http/me.ts';

/** `GET /me` of a service with the setting `limits`: it says what is left of them, too. */
export const handler = meHandler(limitsLeft);
