/* Headers by their names. Nothing is imported here, since browsers load this as it is. */

/** The header of each answer with the id of its request, which the log has, too. */
export const requestIdHeader = 'x-request-id';

/** The header that names the project to record a request to a model in. */
export const recordingHeader = 'openai-project';

/** The same by another name, for clients that let people choose the names of headers. */
export const projectHeader = 'x-project';

/** The header that says who asks a model, as `attributes.source` does. */
export const sourceHeader = 'x-source';

/** The header that names the prompt of a request to a model, as `attributes.prompt` does: `<name>:<version>`. */
export const promptHeader = 'x-prompt';

/** The header that says for how many seconds an answer of a model may be kept, and come again. */
export const cacheHeader = 'x-cache-ttl';

/** The longest time that an answer is kept, in days. A rule of the bucket deletes older ones. */
export const maxCacheDays = 30;
