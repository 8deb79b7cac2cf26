/* Paths of the door for Weave's SDKs. Nothing is imported here, since the smallest functions load this. */

/** What is before all paths that Weave's SDKs know. */
export const weavePath = '/weave';

/** What Weave's SDKs ask first. */
export const serverInfoPath = `${weavePath}/server_info`;
