/* The kinds of routes. Each line of the list of routes begins with one. */

/** The handler of a path: its fixed segments. */
const handlerOf = (path: string): string =>
  path
    .split('/')
    .filter((segment) => segment !== '' && !segment.startsWith('{'))
    .join('/');

/** A route that writes, with the handler of the same path. */
export const writing = <Path extends `/${string}`>(path: Path) =>
  ({ path, method: 'POST', handler: handlerOf(path), scheme: 'basic', role: 'write' }) as const;

/** A route that reads, with the handler of the same path. */
export const reading = <Path extends `/${string}`>(path: Path) =>
  ({ path, method: 'POST', handler: handlerOf(path), scheme: 'basic', role: 'read' }) as const;

/** A route for everybody, which touches no store. */
export const open = <Path extends `/${string}`>(path: Path, handler: string) =>
  ({ path, method: 'GET', handler, scheme: 'none', stores: {} }) as const;

/** A route about the key itself, with the handler of the same path. */
export const ofTheKey = <Path extends `/${string}`>(path: Path) =>
  ({ path, method: 'GET', handler: handlerOf(path), scheme: 'basic', stores: {} }) as const;

/** A route of the page. One function serves them all. */
export const ofThePage = <Path extends `/${string}`>(path: Path) =>
  ({ ...open(path, 'ui'), page: true }) as const;

/** Marks a route that Weave's dialect alone has. */
export const inWeave = { dialect: 'weave' } as const;
