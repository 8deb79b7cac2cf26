/** An environment variable. Throws an Error if it is not set. */
export const required = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`the environment variable ${name} is not set`);
  return value;
};
