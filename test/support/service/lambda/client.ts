/**
 * Runs a function under AWS's own client of the runtime API, as Lambda's Node runtime does. Only its
 * native part is replaced, which speaks HTTP: by native.ts beside this file.
 *
 * Its argument is the URL of that client.
 */
import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === './rapid-client.node'
      ? { url: import.meta.resolve('./native.ts'), shortCircuit: true }
      : next(specifier, context),
});
const [, , client = ''] = process.argv;
await import(client);
