/**
 * Has the service take less memory, by what can only be said before a process starts. `npm start` and
 * `npx pennytrace start` import it before all else.
 *
 * - glibc keeps up to eight arenas a core. Each thread takes one, and what it frees there stays with the
 *   process. Two arenas take 60 MB less while clients read (`npm run bench -- --only memory`).
 * - V8 would give the main thread 16 MB and more for new objects.
 */

/** The variable that glibc reads. Whoever has set it knows better. */
const arenas = 'MALLOC_ARENA_MAX';
const count = '2';

const semiSpace = '--max-semi-space-size';
const semiSpaceMb = 4;

/**
 * Starts this process anew in its place: with the same id, arguments, input and output. That takes some 40 ms.
 * Only Linux has glibc; elsewhere the process goes on as it is.
 */
const startAnew = (): void => {
  const { platform, execPath, execArgv, argv, env, execve } = process;
  if (platform !== 'linux' || env[arenas] !== undefined || execve === undefined) return;
  const isSaid = execArgv.some((flag) => flag.startsWith(semiSpace));
  const flags = isSaid ? execArgv : [...execArgv, `${semiSpace}=${semiSpaceMb}`];
  execve(execPath, [execPath, ...flags, ...argv.slice(1)], { ...env, [arenas]: count });
};

startAnew();

// A module of its own, though nothing is imported of it.
export {};
