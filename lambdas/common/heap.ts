/**
 * Lets the small heap of a function grow to three times what is alive before V8 looks through all of it.
 * Rows, and the bytes that are unpacked for them, come and go so fast that it would do so every few requests:
 * docs/decisions/0160. `NODE_OPTIONS` does not take the flag. To be called while a container starts.
 */
export const letHeapGrow = (): void =>
  process.getBuiltinModule('node:v8').setFlagsFromString('--heap-growing-percent=200');
