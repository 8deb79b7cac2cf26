import { meHandler } from '../common/http/me.ts';

/** `GET /me` of a service without the setting `limits`, which needs no storage. */
export const handler = meHandler(async () => ({}));
