/** `npm run limits -- set | show`: the operator's command for spending limits of projects. See docs/limits.md. */

import { limitsObject, limits as limitsSchema } from '../api/limits.ts';
import { limitsClass } from '../api/shared/classes.ts';
import { limitsOfProject, readProjectLimits } from '../core/records/limits.ts';
import { createObject, describeCreation, type ObjectChecks } from '../core/records/objects/index.ts';
import { dollarText, readSpent } from '../core/records/spending.ts';
import { requestBudget, type Store, type Table } from '../foundations/storage/index.ts';
import { formatTime, type JsonObject, type ProjectId, ServiceError } from '../foundations/wire/index.ts';
import { makeParser, parseValue } from '../foundations/wire/schema.ts';
import {
  type CommandOutput,
  parseFlags,
  parseProject,
  parseUsd,
  processOutput,
  root,
  runCommand,
  UsageError,
} from './common.ts';
import {
  defaultPort,
  defaultStack,
  type Location,
  locationOptions,
  toLocation,
  withDefaultPort,
  withTable,
} from './location.ts';
import { auditOperator } from './operator.ts';

/** A parsed command. */
interface Command {
  readonly location: Location;
  readonly project: ProjectId;
  /** The limits to set; undefined if they are only shown. */
  readonly val?: JsonObject;
}

export const help = `Set and show the spending limits of a project of a deployed or a local service.

  npm run limits -- set --project acme/shop [--usd-per-day 5] [--usd-per-month 50] \\
    [--usd-per-day-per-user 1]
  npm run limits -- show --project acme/shop

set
  --usd-per-day USD, --usd-per-month USD
                    the most dollars that the project's model requests may cost in a UTC day or month
  --usd-per-day-per-user USD
                    the same of each end user in a UTC day. What is left out has no limit any more
show
                    the limits, and what is spent and held of them
both
  --project ENTITY/PROJECT
  --stack NAME      the stack of the service (default: ${defaultStack})
  --local[=PORT]    the local service on that port (default: ${defaultPort})

Limits count where the service has the setting limits, within some five seconds. They are the object ${limitsObject}
of class ${limitsClass}, which POST /obj/create makes as well. Exit code: 0 done, 1 failed, 2 wrong usage.`;

const options = { ...locationOptions, project: { type: 'string' } } as const;
const setOptions = {
  ...options,
  'usd-per-day': { type: 'string' },
  'usd-per-month': { type: 'string' },
  'usd-per-day-per-user': { type: 'string' },
} as const;

type Flags = Readonly<Record<string, string | undefined>>;

/** @throws UsageError for dollars that no limit may have */
const limitsValue = (flags: Flags): JsonObject => {
  const amounts = (['usd-per-day', 'usd-per-month', 'usd-per-day-per-user'] as const).flatMap((flag) => {
    const text = flags[flag];
    return text === undefined ? [] : [[flag.replaceAll('-', '_'), parseUsd(flag, text)] as const];
  });
  const val = {
    _type: limitsClass,
    ...Object.fromEntries(amounts),
    saved_at: formatTime(Date.now() * 1000),
  };
  try {
    parseValue(limitsSchema(), val);
  } catch (error) {
    const [problem] = error instanceof ServiceError ? error.detail : [];
    if (!problem) throw error;
    throw new UsageError(`set: ${problem.loc.slice(1).join('.')} ${problem.msg}`);
  }
  return val;
};

const parseCommand = (argv: readonly string[]): Command => {
  const [name, ...args] = withDefaultPort(argv);
  if (name === 'set') {
    const { values } = parseFlags({ args, options: setOptions });
    return { location: toLocation(values), project: parseProject(values.project), val: limitsValue(values) };
  }
  if (name !== 'show') throw new UsageError(`${name ?? 'no command'}: should be set or show`);
  const { values } = parseFlags({ args, options });
  return { location: toLocation(values), project: parseProject(values.project) };
};

interface CommandEnvironment extends CommandOutput {
  /** The project's folder, absolute. */
  readonly root: string;
}

/**
 * Runs the command for limits.
 *
 * @param argv the arguments after the command's name
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage (nothing was done)
 */
export const run = (argv: readonly string[], io: CommandEnvironment): Promise<0 | 1 | 2> =>
  runCommand({ name: 'limits', help, argv }, io, () => execute(parseCommand(argv), io));

const execute = ({ location, project, val }: Command, io: CommandEnvironment): Promise<void> =>
  withTable(location, io.root, 'objects', async (table) => {
    const objects = toStore(table);
    const object = { projectId: project, objectId: limitsObject };
    if (val) {
      const announce: ObjectChecks['announce'] = async (stored, covered) => {
        const change = await describeCreation(objects, stored, covered, requestBudget(10_000));
        if (change) await auditOperator(location, io.root, [change], io);
      };
      await createObject(objects, { ...object, val }, 'limits', requestBudget(10_000), { announce });
    }
    await withTable(location, io.root, 'bookkeeping', (bookkeeping) =>
      show(objects, bookkeeping, project, io),
    );
  });

/** The objects of the service. Limits are short, so nothing of theirs is in the bucket. */
const toStore = (table: Table): Store => ({
  table,
  get bucket(): never {
    throw new Error('limits are never so long that they lie in the bucket');
  },
  shards: [1],
});

const show = async (
  objects: Store,
  bookkeeping: Table,
  project: ProjectId,
  { out }: CommandEnvironment,
): Promise<void> => {
  const budget = requestBudget(10_000);
  const found = await readProjectLimits(objects, project, parseLimits, budget);
  const limits = limitsOfProject(project, found, undefined);
  const { usdPerDayPerUser: perUser } = found;
  if (limits.length === 0 && !perUser) return out(`${project} has no limits`);
  if (perUser) out(`${project}: $${perUser} a day for each end user`);
  for (const { limit, spent, resetsAt } of await readSpent(bookkeeping, limits, Date.now(), budget))
    out(
      `${project}: $${limit.usd} a ${limit.period}, of which ${dollarText(spent / 1e9)} is spent; it resets at ${formatTime(resetsAt * 1000)}`,
    );
};

const parseLimits: Parameters<typeof readProjectLimits>[2] = makeParser(limitsSchema());

export const main = (argv: readonly string[]): Promise<number> => run(argv, { ...processOutput, root });

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
