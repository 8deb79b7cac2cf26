/*
 * What stands in bundles for the parts of MCP's SDK that depend on the platform: no tool asks for
 * forms, so nothing has to be validated by a JSON Schema of theirs.
 */
import process from 'node:process';

/** Refuses to validate. */
class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error('no tool asks for a form');
  }
}

export { DefaultJsonSchemaValidator, process };
