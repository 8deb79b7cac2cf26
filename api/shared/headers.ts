/* Headers by their names. Nothing is imported here, since browsers load this as it is. */

/** The header of each answer with the id of its request, which the log has, too. */
export const requestIdHeader = 'x-request-id';

/** The header that names the project to record a request to a model in. */
export const recordingHeader = 'openai-project';
