import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The fields of the project's manifest that mean something to whoever installs the package. */
const kept = [
  ...['name', 'version', 'description', 'license', 'private', 'type', 'main', 'types', 'exports'],
  ...['files', 'sideEffects', 'engines', 'peerDependencies'],
];

type Manifest = Readonly<Record<string, unknown>>;

/**
 * The manifest of the package. What only the bundles import has no place among its dependencies:
 * npm would install it for nothing. `bundled` says which versions they have.
 */
const manifestOfPackage = (own: Manifest): Manifest => ({
  ...Object.fromEntries(kept.flatMap((name) => (name in own ? [[name, own[name]]] : []))),
  bundled: own.dependencies,
});

const manifestIn = (folder: string): string => join(folder, 'package.json');
/** Where the project's manifest waits while npm packs the other. */
const waitingIn = (folder: string): string => join(folder, '.local/package.json');

/** Puts the project's manifest back, if a pack has put another in its place. */
export const restoreManifest = (folder: string): void => {
  if (existsSync(waitingIn(folder))) renameSync(waitingIn(folder), manifestIn(folder));
};

/** Puts the package's manifest in the place of the project's, until {@link restoreManifest}. */
export const placeManifest = (folder: string): void => {
  const text = readFileSync(manifestIn(folder), 'utf8');
  mkdirSync(dirname(waitingIn(folder)), { recursive: true });
  writeFileSync(waitingIn(folder), text);
  writeFileSync(manifestIn(folder), `${JSON.stringify(manifestOfPackage(JSON.parse(text)), null, 2)}\n`);
};
