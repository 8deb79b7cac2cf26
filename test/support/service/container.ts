import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

const root = pathToFileURL(`${import.meta.dirname}/../../../`).href;
const ofContainer = /\?container=\d+$/;

/** What a module of a container imports of the project belongs to the same container. */
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    const [container] = ofContainer.exec(context.parentURL ?? '') ?? [];
    if (container === undefined || !resolved.url.startsWith(root)) return resolved;
    if (resolved.url.includes('/node_modules/')) return resolved;
    return { ...resolved, url: resolved.url + container };
  },
});

let containers = 0;

/**
 * The modules of a Lambda container that has just started. They run in this process, with the
 * environment that they find when they are loaded. Packages are shared by all containers.
 *
 * @returns loads a module by its path in the project, e.g. `lambdas/background/authorizer.ts`. A container has
 * one instance of each.
 */
export const startContainer = (): (<Module>(path: string) => Promise<Module>) => {
  const container = `?container=${++containers}`;
  return (path) => import(root + path + container);
};
