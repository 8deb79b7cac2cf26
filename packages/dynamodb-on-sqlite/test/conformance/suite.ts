/** The folder of the suite, which the command hands down. */
export const suiteIn = ({ CONFORMANCE_SUITE: folder }: NodeJS.ProcessEnv): string => {
  if (folder === undefined) throw new Error('CONFORMANCE_SUITE is not set: run conformance/run.ts');
  return folder;
};
