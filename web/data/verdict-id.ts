/** Whether an evaluator of the service gave a record of feedback: no client can give an id like this. */
export const isOfService = (id: string): boolean => id.startsWith('00000000-0000-7');
