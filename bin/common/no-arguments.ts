import { processOutput } from './output.ts';
import { UsageError, usageText } from './usage-error.ts';

/**
 * Ends this process if it got arguments: with 0 after `--help`, and with 2 after any other. For
 * commands that take none, so that nobody starts one who asks what it does.
 *
 * @param name the name of its npm script
 * @param help the text of `--help`
 */
export const takeNoArguments = (
  name: string,
  help: string,
  [first]: readonly string[] = process.argv.slice(2),
  { out, err } = processOutput,
  exit: (code: number) => void = process.exit,
): void => {
  if (first === undefined) return;
  const asksForHelp = first === '--help' || first === '-h';
  if (asksForHelp) out(help);
  else err(usageText(name, new UsageError(`${first}: this command takes no arguments`)));
  exit(asksForHelp ? 0 : 2);
};
