/** The command cannot do its work. The message says what to do about it. */
export class Failure extends Error {
  override readonly name = 'Failure';
}
